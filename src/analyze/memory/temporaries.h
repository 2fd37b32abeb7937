// Simulates the heap of temporaries, which are allocated and freed while the module runs.
#pragma once

#include "analyze/memory/assignment.h"
#include "analyze/memory/heap.h"

namespace shoal::internal {

struct Temporaries {
  std::vector<int64_t> live_bytes;     // bytes in use at each step, including the step's operands and result
  std::vector<HeapBlock> blocks;       // memory blocks to pack
  std::vector<int64_t> counted_bytes;  // bytes of each block in live_bytes
  // Pairs of a value and the index of its block, in definition order.
  std::vector<std::pair<uint32_t, uint32_t>> values;

  // Returns the live values at a step. If several values of a block are live, returns only the last defined value.
  std::vector<uint32_t> LiveAt(int64_t time, const Buffers& buffers) const;
};

Temporaries TemporariesIn(int64_t memory_space, const Buffers& buffers, const Timeline& timeline,
                          const Assignment& assignment, BufferReuse& reuse);

}  // namespace shoal::internal
