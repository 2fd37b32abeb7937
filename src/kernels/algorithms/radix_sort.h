// Stable radix sorts of keyed elements, least significant digit first. Digits that are equal in all keys are skipped.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/thread_pool.h"

namespace shoal::internal {

template <class Key>
struct Keyed {
  Key key = 0;
  Key element = 0;  // index in the row
};

template <class Key>
void RadixSort(std::vector<Keyed<Key>>& row, std::vector<Keyed<Key>>& scratch) {
  const int digit_bits = row.size() < 4096 ? 8 : 11;
  const Key mask = (Key{1} << digit_bits) - 1;
  Key differing = 0;
  for (const auto& keyed : row) differing |= keyed.key ^ row[0].key;
  scratch.resize(row.size());
  std::vector<size_t> starts;
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(Key)); shift += digit_bits) {
    if (((differing >> shift) & mask) == 0) continue;
    starts.assign(static_cast<size_t>(mask) + 2, 0);
    for (const auto& keyed : row) ++starts[static_cast<size_t>((keyed.key >> shift) & mask) + 1];
    for (size_t d = 1; d < starts.size(); ++d) starts[d] += starts[d - 1];
    for (const auto& keyed : row) scratch[starts[static_cast<size_t>((keyed.key >> shift) & mask)]++] = keyed;
    row.swap(scratch);
  }
}

// The same on the pool, for long rows: each block of the row is counted and moved by one task. `row` and `scratch` have
// `size` elements. Returns the one with the result.
template <class Key>
Keyed<Key>* ParallelRadixSort(Keyed<Key>* row, Keyed<Key>* scratch, int64_t size, ThreadPool& pool) {
  constexpr int kDigitBits = 11;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  const int64_t blocks = std::clamp<int64_t>(size >> 15, 1, 32), each = (size + blocks - 1) / blocks;
  std::vector<Key> differs(static_cast<size_t>(blocks), 0);
  ForBlocks(pool, size, each, [&](int64_t begin, int64_t end) {
    Key found = 0;
    for (int64_t i = begin; i < end; ++i) found |= row[i].key ^ row[0].key;
    differs[static_cast<size_t>(begin / each)] = found;
  });
  Key differing = 0;
  for (Key found : differs) differing |= found;
  std::vector<size_t> starts(kDigits * static_cast<size_t>(blocks));  // of each digit, for each block
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(Key)); shift += kDigitBits) {
    if (((differing >> shift) & (kDigits - 1)) == 0) continue;
    const auto digit_of = [&](const Keyed<Key>& keyed) { return static_cast<size_t>(keyed.key >> shift) & (kDigits - 1); };
    const auto start_of = [&](size_t digit, int64_t begin) -> size_t& {
      return starts[digit * static_cast<size_t>(blocks) + static_cast<size_t>(begin / each)];
    };
    std::fill(starts.begin(), starts.end(), 0);  // the last blocks may be empty
    ForBlocks(pool, size, each, [&](int64_t begin, int64_t end) {
      std::array<uint32_t, kDigits> counts{};
      for (int64_t i = begin; i < end; ++i) ++counts[digit_of(row[i])];
      for (size_t d = 0; d < kDigits; ++d) start_of(d, begin) = counts[d];
    });
    size_t next = 0;
    for (size_t& start : starts) next += std::exchange(start, next);
    ForBlocks(pool, size, each, [&](int64_t begin, int64_t end) {
      std::array<size_t, kDigits> to;
      for (size_t d = 0; d < kDigits; ++d) to[d] = start_of(d, begin);
      for (int64_t i = begin; i < end; ++i) scratch[to[digit_of(row[i])]++] = row[i];
    });
    std::swap(row, scratch);
  }
  return row;
}

}  // namespace shoal::internal
