// Heap packing: assigns offsets in one memory area to buffers, so that simultaneously live buffers do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace shoal::internal {

struct HeapInterval {
  int64_t start = 0, end = 0;  // times, both inclusive
};

// A memory block with one offset, and the intervals in which it is live. The intervals may share only their ends.
struct HeapBlock {
  int64_t bytes = 0;
  std::vector<HeapInterval> intervals;  // not empty; sorted by start
};

struct HeapPacking {
  int64_t bytes = 0;             // total size of the heap
  std::vector<int64_t> offsets;  // offset of each block
};

// Packs like XLA: places blocks by decreasing size and, as an alternative, by decreasing lifetime, each in the smallest
// gap that fits. Returns the smaller heap. If there are very many blocks, places them in order of start time instead.
HeapPacking PackHeap(const std::vector<HeapBlock>& blocks, int64_t alignment);

}  // namespace shoal::internal
