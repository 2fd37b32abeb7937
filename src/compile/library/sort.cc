// Sorts by comparisons of operand elements. Maps elements to integer keys in the same order, then sorts the keys.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/arrays/indexed.h"
#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/parallel_copy.h"
#include "core/ops/families.h"
#include "compile/library/rows.h"

namespace shoal::internal {
namespace {

struct KeyOrder {
  size_t operand = 0;
  bool descending = false;
  FloatOrder floats = FloatOrder::kTotal;
};

// Canonicalization of a float in a comparator: -0 becomes 0 (`zeros`), all NaNs become one (`nans`).
struct Canonical {
  const Instruction* parameter = nullptr;
  bool zeros = false, nans = false;
};

bool IsComparison(const Instruction& hlo, ComparisonDirection direction) {
  return hlo.opcode == Opcode::kCompare && hlo[Op<Opcode::kCompare>::kDirection] == direction;
}

// The value of a scalar float constant.
std::optional<double> ConstantValueOf(const Instruction& hlo) {
  const Literal* literal = hlo.opcode == Opcode::kConstant ? hlo[kConstantValue] : nullptr;
  if (literal == nullptr || literal->elided || !IsFloat(hlo.shape().element_type()) || hlo.shape().rank() != 0)
    return std::nullopt;
  uint64_t bits = 0;
  if (!literal->data.empty()) std::memcpy(&bits, literal->data.data(), std::min<size_t>(8, literal->data.size()));
  return DecodeFloat(hlo.shape().element_type(), bits);
}

Canonical CanonicalOf(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kParameter) return {&hlo, false, false};
  if (hlo.opcode != Opcode::kSelect) return {};
  const Instruction &choice = *hlo.operands[0], &other = *hlo.operands[2];
  const std::optional<double> number = ConstantValueOf(*hlo.operands[1]);
  Canonical inner = CanonicalOf(other);
  if (!number || inner.parameter == nullptr || choice.operand_count() != 2) return {};
  const Canonical tested = CanonicalOf(*choice.operands[0]);
  if (tested.parameter != inner.parameter) return {};
  // select(x == 0, 0, x) and select(x != x, nan, x)
  if (IsComparison(choice, ComparisonDirection::kEq) && ConstantValueOf(*choice.operands[1]) == 0.0 && *number == 0 &&
      !std::signbit(*number)) {
    inner.zeros = true;
  } else if (IsComparison(choice, ComparisonDirection::kNe) && choice.operands[0] == choice.operands[1] &&
             std::isnan(*number) && !std::signbit(*number)) {
    inner.nans = true;
  } else {
    return {};
  }
  return inner;
}

// The sides of a comparison of two elements of one operand: parameters 2k and 2k + 1, canonicalized in the same way.
struct ComparisonSides {
  Canonical first, second;
  size_t operand = 0;
  bool crossed = false;  // the second element is on the left
};

std::optional<ComparisonSides> ComparisonSidesOf(const Instruction& comparison) {
  if (comparison.opcode != Opcode::kCompare || IsComplex(comparison.operand_shape(0).element_type())) return std::nullopt;
  ComparisonSides sides{CanonicalOf(*comparison.operands[0]), CanonicalOf(*comparison.operands[1])};
  const Canonical &a = sides.first, &b = sides.second;
  if (a.parameter == nullptr || b.parameter == nullptr || a.zeros != b.zeros || a.nans != b.nans) return std::nullopt;
  const int64_t first = (*a.parameter)[kParameterNumber], second = (*b.parameter)[kParameterNumber];
  if (second != (first ^ 1)) return std::nullopt;
  sides.operand = static_cast<size_t>(first / 2);
  sides.crossed = first % 2 != 0;
  return sides;
}

// The float order that a comparison implements, if it is supported.
std::optional<FloatOrder> FloatOrderOf(const Instruction& comparison, const ComparisonSides& sides) {
  const bool is_partial = comparison[Op<Opcode::kCompare>::kOrder] == ComparisonOrder::kPartial;
  if (sides.first.zeros != sides.first.nans && !is_partial) return std::nullopt;
  return is_partial || sides.first.zeros ? FloatOrder::kNanLast : FloatOrder::kTotal;
}

std::optional<KeyOrder> KeyOrderOf(const Instruction& comparison) {
  const std::optional<ComparisonSides> sides = ComparisonSidesOf(comparison);
  const bool less = IsComparison(comparison, ComparisonDirection::kLt);
  if (!sides || (!less && !IsComparison(comparison, ComparisonDirection::kGt))) return std::nullopt;
  const std::optional<FloatOrder> floats = FloatOrderOf(comparison, *sides);
  if (!floats) return std::nullopt;
  return KeyOrder{sides->operand, less == sides->crossed, *floats};
}

// True if `hlo` tests that both elements have equal keys in this order. NaNs that are not canonicalized are not equal
// to themselves.
bool IsTie(const Instruction& hlo, const KeyOrder& order) {
  if (!IsComparison(hlo, ComparisonDirection::kEq)) return false;
  const std::optional<ComparisonSides> sides = ComparisonSidesOf(hlo);
  if (!sides || sides->operand != order.operand || FloatOrderOf(hlo, *sides) != order.floats) return false;
  return !IsFloat(hlo.operand_shape(0).element_type()) || hlo[Op<Opcode::kCompare>::kOrder] == ComparisonOrder::kTotal;
}

// The key orders of a comparator, most significant first: of one comparison, or of "a.k < b.k || (a.k == b.k && …)".
std::optional<std::vector<KeyOrder>> KeyOrdersOf(const Instruction& root) {
  if (const std::optional<KeyOrder> order = KeyOrderOf(root)) return std::vector{*order};
  if (root.opcode != Opcode::kOr) return std::nullopt;
  for (size_t i : {0, 1}) {
    const std::optional<KeyOrder> first = KeyOrderOf(*root.operands[i]);
    const Instruction& both = *root.operands[1 - i];
    if (!first || both.opcode != Opcode::kAnd) continue;
    for (size_t j : {0, 1}) {
      if (!IsTie(*both.operands[j], *first)) continue;
      std::optional<std::vector<KeyOrder>> orders = KeyOrdersOf(*both.operands[1 - j]);
      if (orders) orders->insert(orders->begin(), *first);
      return orders;
    }
  }
  return std::nullopt;
}

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
  RowSorter(const SortedRows& rows, std::span<const KeyOrder> orders, bool is_stable)
      : rows_(rows), orders_(orders), is_stable_(is_stable || rows.size <= 16), permutation_(static_cast<size_t>(rows.size)) {}

  void Sort(int64_t r) {
    const auto size = static_cast<size_t>(rows_.size);
    row_.resize(size);
    for (size_t i = 0; i < size; ++i) row_[i].element = static_cast<Key>(i);
    // Sort by the least significant key first. Each later sort keeps the existing order of equal elements.
    for (size_t k = orders_.size(); k-- > 0;) {
      const std::vector<uint64_t> keys = KeysOf(r, orders_[k]);
      const uint64_t flip = orders_[k].descending ? ~uint64_t{0} : 0;
      for (auto& keyed : row_) keyed.key = static_cast<Key>(keys[static_cast<size_t>(keyed.element)] ^ flip);
      constexpr size_t kFew = 64;
      if (is_stable_ && size <= kFew)
        InsertionSort(row_);
      else if (is_stable_)
        RadixSort(row_, scratch_);
      else  // same as the interpreter, which orders equal elements like XLA:CPU
        std::sort(row_.begin(), row_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    }
    for (size_t i = 0; i < size; ++i) permutation_[i] = static_cast<int64_t>(row_[i].element);
    for (size_t k = 0; k < rows_.outs.size(); ++k) {
      const int64_t bytes = rows_.operands[k].element_bytes(), at = r * rows_.size * bytes;
      GatherElements(static_cast<int>(bytes), rows_.outs[k] + at, rows_.operands[k].data() + at, permutation_.data(), rows_.size);
    }
  }

 private:
  std::vector<uint64_t> KeysOf(int64_t r, const KeyOrder& order) const {
    const Array& operand = rows_.operands[order.operand];
    const int64_t bytes = rows_.size * operand.element_bytes();
    const Array part(operand.type(), Dims{rows_.size}, Buffer::Borrow(operand.data() + r * bytes, static_cast<size_t>(bytes)));
    std::vector<uint64_t> keys = OrderKeys(part, order.floats);
    if constexpr (sizeof(Key) == 4) {
      // Signed integers are biased for 64 bits. A key that exceeds 32 bits is a NaN.
      const bool is_signed = IsSigned(operand.type()) && !IsFloat(operand.type());
      for (uint64_t& key : keys) key = is_signed ? key ^ (uint64_t{1} << 63) ^ (uint64_t{1} << 31) : std::min<uint64_t>(key, UINT32_MAX);
    }
    return keys;
  }

  const SortedRows& rows_;
  std::span<const KeyOrder> orders_;
  bool is_stable_;
  std::vector<Keyed<Key>> row_, scratch_;
  std::vector<int64_t> permutation_;
};

template <class Key>
void SortRows(const SortedRows& rows, std::span<const KeyOrder> orders, bool is_stable, ThreadPool& pool) {
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
  const std::vector<KeyOrder> orders = *KeyOrdersOf(*hlo[kToApply]->root);
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
  for (const KeyOrder& order : orders) narrow &= BitWidth(operands[order.operand].type()) <= 32;
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
  const std::optional<std::vector<KeyOrder>> orders = KeyOrdersOf(*hlo[kToApply]->root);
  // Several keys are sorted one after the other, which requires a stable sort.
  return orders && (orders->size() == 1 || hlo[kIsStable]) ? &SortByKeys : nullptr;
}

}  // namespace shoal::internal
