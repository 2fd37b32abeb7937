// Heap packing: assigns offsets in one block of memory to buffers, so that simultaneously live buffers do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace shoal::internal {

struct HeapInterval {
  int64_t start = 0, end = 0;  // both inclusive
};

// A block of memory that is placed at one offset. Its intervals do not overlap, except at their ends.
struct HeapBlock {
  int64_t bytes = 0;
  std::vector<HeapInterval> intervals;  // not empty; sorted by start
};

struct HeapPacking {
  int64_t bytes = 0;             // total size of the heap
  std::vector<int64_t> offsets;  // by block
};

// Packs as XLA does: places blocks by decreasing size or by decreasing lifetime, whichever yields the smaller heap,
// each in the smallest gap that fits. If there are very many blocks, places them in order of time instead.
HeapPacking PackHeap(const std::vector<HeapBlock>& blocks, int64_t alignment);

}  // namespace shoal::internal
