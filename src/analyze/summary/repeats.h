// Finds runs of repeated items in a sequence, such as the unrolled layers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::internal {

// The items [start, start + period) occur `count` times in a row.
struct Repeat {
  size_t start = 0, period = 0, count = 0;
  size_t end() const { return start + period * count; }
};

// Returns disjoint repeats, ordered by start. Among overlapping repeats, chooses those that save the most lines. Items
// with equal hashes are considered equal. A period may contain further repeats. The running time is O(n log n).
std::vector<Repeat> FindRepeats(std::span<const uint64_t> hashes, std::span<const int64_t> lines);

}  // namespace shoal::internal
