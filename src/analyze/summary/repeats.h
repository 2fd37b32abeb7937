// Runs of repeated items in a sequence: the unrolled layers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::internal {

// Items [start, start + period) occur `count` times in a row.
struct Repeat {
  size_t start = 0, period = 0, count = 0;
  size_t end() const { return start + period * count; }
};

// Disjoint repeats, ordered by start. Among overlapping candidates, those that save more lines win. Items with equal
// hashes are considered equal. A period may contain further repeats. Takes O(n log n).
std::vector<Repeat> FindRepeats(std::span<const uint64_t> hashes, std::span<const int64_t> lines);

}  // namespace shoal::internal
