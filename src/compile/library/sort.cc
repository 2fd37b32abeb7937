// Sorts by comparisons of operand elements. Maps elements to integer keys in the same order, then sorts the keys.
#include <algorithm>

#include "kernels/arrays/indexed.h"
#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/parallel_copy.h"
#include "core/ops/families.h"
#include "compile/library/rows.h"
#include "transform/loops/match_sort_keys.h"

namespace shoal::internal {
namespace {

template <class Key>
struct Keyed {
  Key key = 0;
  Key element = 0;  // index in the row
};

// A stable radix sort, least significant digit first. Skips digits that are equal in all keys.
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

// A stable sort that is faster for few elements.
template <class Key>
void InsertionSort(std::vector<Keyed<Key>>& row) {
  for (size_t i = 1; i < row.size(); ++i) {
    const Keyed<Key> next = row[i];
    size_t at = i;
    for (; at > 0 && next.key < row[at - 1].key; --at) row[at] = row[at - 1];
    row[at] = next;
  }
}

// Rows of several operands that are sorted together, and their result buffers.
struct SortedRows {
  std::vector<Array> operands;
  std::vector<std::byte*> outs;
  int64_t size = 1;
};

template <class Key>
class RowSorter {
 public:
  RowSorter(const SortedRows& rows, std::span<const SortKey> orders, bool is_stable)
      : rows_(rows), orders_(orders), is_stable_(is_stable || rows.size <= 16), permutation_(static_cast<size_t>(rows.size)) {}

  void Sort(int64_t r) {
    const auto size = static_cast<size_t>(rows_.size);
    row_.resize(size);
    for (size_t i = 0; i < size; ++i) row_[i].element = static_cast<Key>(i);
    // Sort by the least significant key first. Each later sort keeps the existing order of equal elements.
    const bool by_ranks = !is_stable_ && orders_.size() > 1;
    for (size_t k = orders_.size(); k-- > 0;) {
      const std::vector<uint64_t> keys = KeysOf(r, orders_[k]);
      const uint64_t flip = orders_[k].descending ? ~uint64_t{0} : 0;
      for (auto& keyed : row_) keyed.key = static_cast<Key>(keys[static_cast<size_t>(keyed.element)] ^ flip);
      SortByKey(is_stable_ || by_ranks);
      if (by_ranks) CountRanks(k + 1 == orders_.size());
    }
    if (by_ranks) SortByRanks();
    for (size_t i = 0; i < size; ++i) permutation_[i] = static_cast<int64_t>(row_[i].element);
    for (size_t k = 0; k < rows_.outs.size(); ++k) {
      const int64_t bytes = rows_.operands[k].element_bytes(), at = r * rows_.size * bytes;
      GatherElements(static_cast<int>(bytes), rows_.outs[k] + at, rows_.operands[k].data() + at, permutation_.data(), rows_.size);
    }
  }

 private:
  void SortByKey(bool is_stable) {
    constexpr size_t kFew = 64;
    if (is_stable && row_.size() <= kFew)
      InsertionSort(row_);
    else if (is_stable)
      RadixSort(row_, scratch_);
    else  // same as the interpreter, which orders equal elements like XLA:CPU
      std::sort(row_.begin(), row_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  }

  // Updates the rank of each element: its position among the keys sorted so far, counting equal elements once. The row
  // is sorted by the new key, and within equal keys by the old rank.
  void CountRanks(bool is_first) {
    std::vector<Key> ranks(row_.size(), 0);
    Key rank = 0;
    for (size_t i = 0; i < row_.size(); ++i) {
      const auto same_rank = [&] { return is_first || ranks_[row_[i].element] == ranks_[row_[i - 1].element]; };
      if (i > 0 && !(row_[i].key == row_[i - 1].key && same_rank())) ++rank;
      ranks[row_[i].element] = rank;
    }
    ranks_.swap(ranks);
  }

  // Sorts the elements, in their original order, by rank.
  void SortByRanks() {
    for (size_t i = 0; i < row_.size(); ++i) row_[i] = {ranks_[i], static_cast<Key>(i)};
    SortByKey(false);
  }

  std::vector<uint64_t> KeysOf(int64_t r, const SortKey& order) const {
    const Array& operand = rows_.operands[order.operand];
    const int64_t bytes = rows_.size * operand.element_bytes();
    const Array part(operand.type(), Dims{rows_.size}, Buffer::Borrow(operand.data() + r * bytes, static_cast<size_t>(bytes)));
    std::vector<uint64_t> keys = OrderKeys(part, order.nans_last ? FloatOrder::kNanLast : FloatOrder::kTotal);
    if constexpr (sizeof(Key) == 4) {
      // Signed integers are biased for 64 bits. A key that exceeds 32 bits is a NaN.
      const bool is_signed = IsSigned(operand.type()) && !IsFloat(operand.type());
      for (uint64_t& key : keys) key = is_signed ? key ^ (uint64_t{1} << 63) ^ (uint64_t{1} << 31) : std::min<uint64_t>(key, UINT32_MAX);
    }
    return keys;
  }

  const SortedRows& rows_;
  std::span<const SortKey> orders_;
  bool is_stable_;
  std::vector<Keyed<Key>> row_, scratch_;
  std::vector<Key> ranks_;  // of each element, in an unstable sort by several keys
  std::vector<int64_t> permutation_;
};

template <class Key>
void SortRows(const SortedRows& rows, std::span<const SortKey> orders, bool is_stable, ThreadPool& pool) {
  const int64_t count = rows.operands[0].count() / rows.size;
  ForBlocks(pool, count, std::max<int64_t>(1, (1 << 12) / rows.size), [&](int64_t begin, int64_t end) {
    RowSorter<Key> sorter(rows, orders, is_stable);
    for (int64_t r = begin; r < end; ++r) sorter.Sort(r);
  });
}

// Swaps dimension `dim` with the last one.
Array SwapWithLastDim(const Array& array, int64_t dim, ThreadPool& pool) {
  Dims sizes = ToDims(array.dims());
  Strided from{0, RowMajorStrides(array.dims())};
  std::swap(sizes[static_cast<size_t>(dim)], sizes.back());
  std::swap(from.strides[static_cast<size_t>(dim)], from.strides.back());
  Array result(array.type(), sizes);
  ParallelCopy(result.dims(), array.element_bytes(), result.mutable_data(), {0, RowMajorStrides(result.dims())},
               array.data(), from, pool);
  return result;
}

Status SortByKeys(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const std::vector<SortKey> orders = *MatchSortKeys(*hlo[kToApply]);
  const int64_t dim = hlo[kDimensions][0];
  const bool is_last = dim == operands[0].rank() - 1;
  SortedRows rows;
  rows.size = operands[0].dim(dim);
  std::vector<Array> sorted;
  for (const Array& operand : operands) {
    rows.operands.push_back(is_last ? operand : SwapWithLastDim(operand, dim, pool));
    if (!is_last) sorted.emplace_back(operand.type(), rows.operands.back().dims());
  }
  for (Array& out : is_last ? results : std::span(sorted)) rows.outs.push_back(out.mutable_data());
  bool narrow = rows.size <= INT32_MAX;
  for (const SortKey& order : orders) narrow &= BitWidth(operands[order.operand].type()) <= 32;
  if (narrow)
    SortRows<uint32_t>(rows, orders, hlo[kIsStable], pool);
  else
    SortRows<uint64_t>(rows, orders, hlo[kIsStable], pool);
  for (size_t k = 0; k < sorted.size(); ++k) results[k] = SwapWithLastDim(sorted[k], dim, pool);
  return {};
}

}  // namespace

LibraryFunction SortFunction(const Instruction& hlo) {
  const Shape& shape = hlo.operand_shape(0);
  if (shape.ElementCount().value_or(0) <= 0 || shape.has_dynamic()) return nullptr;
  return MatchSortKeys(*hlo[kToApply]) ? &SortByKeys : nullptr;
}

}  // namespace shoal::internal
