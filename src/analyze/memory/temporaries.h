// The heap of temporaries: what comes and goes while the module runs.
#pragma once

#include "analyze/memory/assignment.h"
#include "analyze/memory/heap.h"

namespace shoal::internal {

struct Temporaries {
  std::vector<int64_t> live_bytes;  // bytes in use at each step, its operands and its result both there
  std::vector<HeapBlock> blocks;   // of memory, for packing
  std::vector<int64_t> counted;    // bytes that each block counts for in over_time
  // Values in the order in which they are made, each with the number of its block.
  std::vector<std::pair<uint32_t, uint32_t>> values;

  // What is there at a step, one value of each block: the one made last.
  std::vector<uint32_t> HeldAt(int64_t time, const Buffers& buffers) const;
};

// Of one memory space.
Temporaries TemporariesIn(int64_t memory_space, const Buffers& buffers, const Timeline& timeline,
                          const Assignment& assignment, BufferReuse& overwriting);

}  // namespace shoal::internal
