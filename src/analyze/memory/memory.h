// The memory that one run of a module needs on one device, by memory space, and the live buffers at the peak.
#pragma once

#include "core/ops/buffer_reuse.h"

namespace shoal::internal {

// Bytes in one memory space, as XLA's buffer assignment counts them.
struct SpaceMemory {
  int64_t space = 0;      // S(n)
  int64_t arguments = 0;  // of the entry computation
  int64_t outputs = 0;    // its results, including those aliased with arguments
  int64_t aliased = 0;    // the part of the arguments that is aliased with outputs
  int64_t constants = 0;
  int64_t temporaries = 0;  // size of the packed block of temporaries
  int64_t live = 0;         // maximum of simultaneously live temporaries
  int64_t peak = 0;         // arguments, constants, non-aliased outputs, and `live`

  void Add(const SpaceMemory& other);
};

// A buffer that is live at the peak.
struct LiveBuffer {
  enum class Kind : uint8_t { kArgument, kOutput, kConstant, kTemporary };
  const Instruction* hlo = nullptr;  // defines its value
  ShapeIndex index;                  // path into the tuple of `hlo`
  const Shape* shape = nullptr;
  Kind kind = Kind::kTemporary;
  int64_t bytes = 0;
  int64_t space = 0;
};

// A period in which a buffer holds one value. The live ranges of a block share one offset in memory. At any step the
// block counts once, as the live range that began last.
struct BufferLiveRange {
  LiveBuffer value;            // has no instruction for constants inside reducers and the like
  int64_t start = 0, end = 0;  // steps, both inclusive
  uint32_t block = 0;
  int64_t offset = -1;  // in the block of temporaries of its space; -1: a separate allocation
};

struct ModuleMemory {
  std::vector<SpaceMemory> spaces;  // sorted by number
  SpaceMemory device;               // sum of all spaces except the host space S(5)
  SpaceMemory host;
  const Instruction* at_peak = nullptr;  // the instruction at the peak of `device`
  std::vector<LiveBuffer> live_at_peak;  // live buffers at the peak, largest first
  // The device's memory at each step of the schedule, and the instruction of each step. Loop bodies appear once.
  std::vector<int64_t> live_bytes;
  std::vector<const Instruction*> steps;
  // All live ranges on the device. At each step their bytes add up to live_bytes.
  std::vector<BufferLiveRange> live_ranges;
  Backend backend = Backend::kGpu;       // determines the buffer-assignment rules
  std::string backend_reason;               // the reason for the choice of backend
  std::vector<std::string> assumptions;  // sentences
};

// The memory that the device must provide: arguments, constants, outputs and the whole block of temporaries. On a TPU,
// counts only the main memory S(0).
int64_t DeviceBytes(const ModuleMemory& memory);

// Buffer assignment as in the compiler of `backend` (default: inferred from the module). If the total size of the
// values overflows, the peak is kSizeOverflow and all other sizes are 0.
ModuleMemory MemoryOf(const Module& module, std::optional<Backend> backend = std::nullopt);

// The first instruction at which the total size of the values overflows; null if it does not.
const Instruction* FirstSizeOverflow(const Module& module);

}  // namespace shoal::internal
