// Computes the memory that one run of a module needs on one device, by memory space, and the live buffers at the peak.
#pragma once

#include "core/ops/buffer_reuse.h"

namespace shoal::internal {

// Bytes in one memory space, as XLA's buffer assignment counts them.
struct SpaceMemory {
  int64_t space = 0;      // number n of the memory space S(n)
  int64_t arguments = 0;  // arguments of the entry computation
  int64_t outputs = 0;    // results of the entry computation, including those that alias arguments
  int64_t aliased = 0;    // arguments that alias outputs
  int64_t constants = 0;
  int64_t temporaries = 0;  // size of all temporaries after packing
  int64_t live = 0;         // maximum of the simultaneously live temporaries
  int64_t peak = 0;         // sum of arguments, constants, non-aliased outputs and `live`

  void Add(const SpaceMemory& other);
};

// A buffer that is live at the peak.
struct LiveBuffer {
  enum class Kind : uint8_t { kArgument, kOutput, kConstant, kTemporary };
  const Instruction* hlo = nullptr;  // the instruction that defines the value
  ShapeIndex index;                  // path into the result tuple of `hlo`
  const Shape* shape = nullptr;
  Kind kind = Kind::kTemporary;
  int64_t bytes = 0;
  int64_t space = 0;
};

// A period in which a buffer holds one value. The live ranges of a block share one offset in memory. If several of them
// overlap at a step, only the range that began last counts.
struct BufferLiveRange {
  LiveBuffer value;            // value.hlo is null for the constants of reducers and comparators
  int64_t start = 0, end = 0;  // first and last step, both inclusive
  uint32_t block = 0;
  int64_t offset = -1;  // offset in the packed temporaries of the space, or -1 for a separate allocation
};

struct ModuleMemory {
  std::vector<SpaceMemory> spaces;  // sorted by space number
  SpaceMemory device;               // sum of all spaces except the host space S(5)
  SpaceMemory host;
  const Instruction* at_peak = nullptr;  // the instruction at the peak of `device`
  std::vector<LiveBuffer> live_at_peak;  // live buffers at the peak, largest first
  // The live bytes on the device at each step of the schedule, and the step's instruction. Loop bodies appear once.
  std::vector<int64_t> live_bytes;
  std::vector<const Instruction*> steps;
  // All live ranges on the device. The bytes of those that count at a step sum to live_bytes.
  std::vector<BufferLiveRange> live_ranges;
  Backend backend = Backend::kGpu;       // the backend whose buffer-assignment rules apply
  std::string backend_reason;            // the reason for the choice of backend
  std::vector<std::string> assumptions;  // each assumption is one sentence
};

// The memory that the device must provide: arguments, constants, outputs and packed temporaries. On a TPU, this counts
// only the main memory S(0).
int64_t DeviceBytes(const ModuleMemory& memory);

// Assigns buffers by the rules of the chosen backend. If the total size of the values overflows, the peak is kSizeOverflow and all
// other sizes are 0.
ModuleMemory MemoryOf(const Module& module, const BackendChoice& choice);

// Fails if the total size of the values overflows.
Status CheckTotalSize(const Module& module);
// Returns the first instruction at which the total size of the values overflows, or null if it does not overflow.
const Instruction* FirstSizeOverflow(const Module& module);

}  // namespace shoal::internal
