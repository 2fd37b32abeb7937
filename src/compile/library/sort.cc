// Sorts by comparisons of operand elements. Maps elements to integer keys in the same order, then sorts the keys.
#include <algorithm>

#include "kernels/arrays/indexed.h"
#include "kernels/algorithms/radix_sort.h"
#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/parallel_copy.h"
#include "core/ops/families.h"
#include "compile/library/rows.h"
#include "transform/loops/match_sort_keys.h"

namespace shoal::internal {
namespace {

// A stable sort that is faster for few elements.
template <class Key>
void InsertionSort(std::span<Keyed<Key>> row) {
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

// The keys of elements [begin, end) of all rows. Elements with smaller keys come first.
template <class Key>
std::vector<uint64_t> KeysOf(const SortedRows& rows, const SortKey& order, int64_t begin, int64_t end) {
  const Array& operand = rows.operands[order.operand];
  const int64_t bytes = operand.element_bytes();
  const Array part(operand.type(), Dims{end - begin},
                   Buffer::Borrow(operand.data() + begin * bytes, static_cast<size_t>((end - begin) * bytes)));
  std::vector<uint64_t> keys = OrderKeys(part, order.nans_last ? FloatOrder::kNanLast : FloatOrder::kTotal);
  if constexpr (sizeof(Key) == 4) {
    // Signed integers are biased for 64 bits. A key that exceeds 32 bits is a NaN.
    const bool is_signed = IsSigned(operand.type()) && !IsFloat(operand.type());
    for (uint64_t& key : keys) key = is_signed ? key ^ (uint64_t{1} << 63) ^ (uint64_t{1} << 31) : std::min<uint64_t>(key, UINT32_MAX);
  }
  const uint64_t flip = order.descending ? ~uint64_t{0} : 0;
  for (uint64_t& key : keys) key ^= flip;
  return keys;
}

// A stable sort of a long row on the pool.
template <class Key>
void SortLongRow(const SortedRows& rows, int64_t r, std::span<const SortKey> orders, ThreadPool& pool) {
  constexpr int64_t kBlock = int64_t{1} << 14;
  // Arrays, because their memory is kept between runs.
  Array memory(ElementType::kU8, Dims{2 * rows.size * static_cast<int64_t>(sizeof(Keyed<Key>))});
  Array keys_memory(ElementType::kU8, Dims{(orders.size() > 1 ? rows.size : 0) * static_cast<int64_t>(sizeof(Key))});
  auto* row = reinterpret_cast<Keyed<Key>*>(memory.mutable_data());
  Keyed<Key>* scratch = row + rows.size;
  Key* keys = reinterpret_cast<Key*>(keys_memory.mutable_data());  // by element
  for (size_t k = orders.size(); k-- > 0;) {
    const bool is_first = k + 1 == orders.size();
    ForBlocks(pool, rows.size, kBlock, [&](int64_t begin, int64_t end) {
      const std::vector<uint64_t> part = KeysOf<Key>(rows, orders[k], r * rows.size + begin, r * rows.size + end);
      for (int64_t i = begin; i < end; ++i) {
        const auto key = static_cast<Key>(part[static_cast<size_t>(i - begin)]);
        if (is_first)
          row[i] = {key, static_cast<Key>(i)};
        else
          keys[i] = key;
      }
    });
    if (!is_first)
      ForBlocks(pool, rows.size, kBlock, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) row[i].key = keys[row[i].element];
      });
    if (ParallelRadixSort(row, scratch, rows.size, pool) == scratch) std::swap(row, scratch);
  }
  ForBlocks(pool, rows.size, kBlock, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> from;
    for (int64_t i = begin; i < end; ++i) from.push_back(static_cast<int64_t>(row[i].element));
    for (size_t k = 0; k < rows.outs.size(); ++k) {
      const int64_t bytes = rows.operands[k].element_bytes(), at = r * rows.size * bytes;
      GatherElements(static_cast<int>(bytes), rows.outs[k] + at + begin * bytes, rows.operands[k].data() + at, from.data(), end - begin);
    }
  });
}

// Sorts a block of rows: computes the keys of all of them, then moves the elements of all of them.
template <class Key>
class RowSorter {
 public:
  RowSorter(const SortedRows& rows, std::span<const SortKey> orders, bool is_stable)
      : rows_(rows), orders_(orders), is_stable_(is_stable || rows.size <= 16), row_(static_cast<size_t>(rows.size)) {}

  void SortBlock(int64_t begin, int64_t end) {
    const int64_t first = begin * rows_.size, count = (end - begin) * rows_.size;
    for (const SortKey& order : orders_) keys_.push_back(KeysOf<Key>(rows_, order, first, first + count));
    permutation_.resize(static_cast<size_t>(count));
    for (size_t at = 0; at < permutation_.size(); at += row_.size()) SortRow(at);
    for (size_t k = 0; k < rows_.outs.size(); ++k) {
      const int64_t bytes = rows_.operands[k].element_bytes(), at = first * bytes;
      GatherElements(static_cast<int>(bytes), rows_.outs[k] + at, rows_.operands[k].data() + at, permutation_.data(), count);
    }
  }

 private:
  // Sorts the row that begins `at` elements behind the start of the block.
  void SortRow(size_t at) {
    for (size_t i = 0; i < row_.size(); ++i) row_[i].element = static_cast<Key>(i);
    // Sort by the least significant key first. Each later sort keeps the existing order of equal elements.
    const bool by_ranks = !is_stable_ && orders_.size() > 1;
    for (size_t k = orders_.size(); k-- > 0;) {
      const uint64_t* keys = keys_[k].data() + at;
      for (auto& keyed : row_) keyed.key = static_cast<Key>(keys[static_cast<size_t>(keyed.element)]);
      SortByKey(is_stable_ || by_ranks);
      if (by_ranks) CountRanks(k + 1 == orders_.size());
    }
    if (by_ranks) SortByRanks();
    for (size_t i = 0; i < row_.size(); ++i) permutation_[at + i] = static_cast<int64_t>(at + row_[i].element);
  }

  void SortByKey(bool is_stable) {
    constexpr size_t kFew = 64;
    if (is_stable && row_.size() <= kFew)
      InsertionSort(std::span(row_));
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

  const SortedRows& rows_;
  std::span<const SortKey> orders_;
  bool is_stable_;
  std::vector<std::vector<uint64_t>> keys_;  // of all elements of the block, for each order
  std::vector<Keyed<Key>> row_, scratch_;
  std::vector<Key> ranks_;  // of each element, in an unstable sort by several keys
  std::vector<int64_t> permutation_;  // of the elements of the block
};

template <class Key>
void SortRows(const SortedRows& rows, std::span<const SortKey> orders, bool is_stable, ThreadPool& pool) {
  constexpr int64_t kLongRow = int64_t{1} << 16, kFewRows = 16;
  const int64_t count = rows.operands[0].count() / rows.size;
  if (is_stable && rows.size >= kLongRow && count < kFewRows) {
    for (int64_t r = 0; r < count; ++r) SortLongRow<Key>(rows, r, orders, pool);
    return;
  }
  ForBlocks(pool, count, std::max<int64_t>(1, (1 << 12) / rows.size), [&](int64_t begin, int64_t end) {
    RowSorter<Key>(rows, orders, is_stable).SortBlock(begin, end);
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
