// Packing: where in one block of memory each of many buffers lies, so that those needed at one time do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace shoal::internal {

struct HeapInterval {
  int64_t start = 0, end = 0;  // both included
};

// What lies in one place: its intervals do not overlap but for their ends.
struct HeapBlock {
  int64_t bytes = 0;
  std::vector<HeapInterval> intervals;  // not empty; by start
};

struct HeapPacking {
  int64_t bytes = 0;             // of a heap that holds them all
  std::vector<int64_t> offsets;  // of each block in it
};

// Packs as XLA packs: the largest first, or those needed longest first, whichever comes out smaller, each into the
// smallest gap it fits in. With very many blocks, in the order of time.
HeapPacking PackHeap(const std::vector<HeapBlock>& blocks, int64_t alignment);

}  // namespace shoal::internal
