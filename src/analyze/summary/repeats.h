// Runs of repeated items in a sequence: the unrolled layers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::internal {

// Items [start, start + period) stand `count` times in a row.
struct Repeat {
  size_t start = 0, period = 0, count = 0;
  size_t end() const { return start + period * count; }
};

// Repeats that do not overlap, by rising start; where they compete, those that save more lines. Items with the same
// hash are the same. Within one period there may be more to find. Takes O(n log n).
std::vector<Repeat> FindRepeats(std::span<const uint64_t> hashes, std::span<const int64_t> lines);

}  // namespace shoal::internal
