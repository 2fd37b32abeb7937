// How much memory a module needs on one device while it runs once, by memory space; what is there when it needs most.
#pragma once

#include "core/ops/buffer_reuse.h"

namespace shoal::internal {

// Bytes in one memory space, as XLA's buffer assignment counts them.
struct SpaceMemory {
  int64_t space = 0;      // S(n)
  int64_t arguments = 0;  // of the entry computation
  int64_t outputs = 0;    // its results; those in memory of arguments too
  int64_t aliased = 0;    // of the arguments, what becomes an output
  int64_t constants = 0;
  int64_t temporaries = 0;  // the block that holds them, packed
  int64_t live = 0;         // of the temporaries, the most that are needed at one time
  int64_t peak = 0;         // arguments, constants, outputs of their own, and `live`

  void Add(const SpaceMemory& other);
};

// A buffer that is there at the peak.
struct LiveBuffer {
  enum class Kind : uint8_t { kArgument, kOutput, kConstant, kTemporary };
  const Instruction* hlo = nullptr;  // that makes its value
  ShapeIndex index;                  // the part of its tuple
  const Shape* shape = nullptr;
  Kind kind = Kind::kTemporary;
  int64_t bytes = 0;
  int64_t space = 0;
};

// A stretch of time in which a buffer holds one value. The lives of a block are one place in memory: at a step it counts
// once, as the life that began last.
struct BufferLiveRange {
  LiveBuffer value;  // no instruction: constants inside reducers and the like
  int64_t start = 0, end = 0;  // steps, both included
  uint32_t block = 0;
  int64_t offset = -1;  // in its space's block of temporaries; -1: memory of its own
};

struct ModuleMemory {
  std::vector<SpaceMemory> spaces;  // by number
  SpaceMemory device;               // all but the host's, S(5)
  SpaceMemory host;
  const Instruction* at_peak = nullptr;  // where `device` needs most
  std::vector<LiveBuffer> live_at_peak;          // there then, the largest first
  // The device's memory at each step of the schedule, and which instruction that is. Loop bodies stand there once.
  std::vector<int64_t> live_bytes;
  std::vector<const Instruction*> steps;
  // All that the device holds, when and where: their bytes add up to over_time.
  std::vector<BufferLiveRange> lives;
  Backend backend = Backend::kGpu;  // whose rules for buffers were followed, and why those
  std::string backend_why;
  std::vector<std::string> assumptions;  // sentences
};

// What the device must have: arguments, constants and outputs, and the whole block of temporaries. On a TPU, in its
// main memory, S(0).
int64_t DeviceBytes(const ModuleMemory& memory);

// As the back end's compiler plans it; nothing given: the one the module shows. Where the values of a module have more
// bytes than can be added up, its peak is kSizeOverflow and nothing else is said.
ModuleMemory MemoryOf(const Module& module, std::optional<Backend> given = std::nullopt);

// The instruction whose value makes it so; null if all can be added up.
const Instruction* FirstSizeOverflow(const Module& module);

}  // namespace shoal::internal
