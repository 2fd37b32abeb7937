// sort by a comparison of one operand's elements: by radix on keys whose order as integers is the order wanted.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/indexed.h"
#include "kernels/order.h"
#include "ops/families.h"
#include "program/library/rows.h"

namespace shoal {
namespace {

using Compare = Op<Opcode::kCompare>;

struct KeyOrder {
  size_t operand = 0;
  bool descending = false;
  FloatOrder floats = FloatOrder::kTotal;
};

// What a comparator may do to a float before it compares: make -0 the same as 0, and all nans one.
struct Canonical {
  const Instruction* parameter = nullptr;
  bool zeros = false, nans = false;
};

bool IsComparison(const Instruction& hlo, ComparisonDirection direction) {
  return hlo.opcode == Opcode::kCompare && hlo[Compare::kDirection] == direction;
}

// The one number that a constant is.
std::optional<double> NumberOf(const Instruction& hlo) {
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
  const std::optional<double> number = NumberOf(*hlo.operands[1]);
  Canonical inner = CanonicalOf(other);
  if (!number || inner.parameter == nullptr || choice.operand_count() != 2) return {};
  const Canonical tested = CanonicalOf(*choice.operands[0]);
  if (tested.parameter != inner.parameter) return {};
  // select(x == 0, 0, x) and select(x != x, nan, x)
  if (IsComparison(choice, ComparisonDirection::kEq) && NumberOf(*choice.operands[1]) == 0.0 && *number == 0 &&
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

std::optional<KeyOrder> KeyOrderOf(const Computation& comparator) {
  const Instruction& root = *comparator.root;
  if (root.opcode != Opcode::kCompare || IsComplex(root.operand_shape(0).element_type())) return std::nullopt;
  const bool less = IsComparison(root, ComparisonDirection::kLt);
  if (!less && !IsComparison(root, ComparisonDirection::kGt)) return std::nullopt;
  const Canonical a = CanonicalOf(*root.operands[0]), b = CanonicalOf(*root.operands[1]);
  if (a.parameter == nullptr || b.parameter == nullptr || a.zeros != b.zeros || a.nans != b.nans) return std::nullopt;
  const int64_t first = (*a.parameter)[kParameterNumber], second = (*b.parameter)[kParameterNumber];
  if (second != (first ^ 1)) return std::nullopt;
  KeyOrder order;
  order.operand = static_cast<size_t>(first / 2);
  order.descending = less != (first % 2 == 0);
  const bool is_partial = root[Compare::kOrder] == ComparisonOrder::kPartial;
  if (a.zeros != a.nans && !is_partial) return std::nullopt;
  if (is_partial || a.zeros) order.floats = FloatOrder::kNanLast;
  return order;
}

struct Keyed {
  uint64_t key = 0;
  int64_t element = 0;
};

// Stable, least digit first; a digit that all keys share is passed over.
void RadixSort(std::vector<Keyed>& row, std::vector<Keyed>& scratch) {
  const int digit_bits = row.size() < 4096 ? 8 : 11;
  const uint64_t mask = (uint64_t{1} << digit_bits) - 1;
  uint64_t differing = 0;
  for (const Keyed& keyed : row) differing |= keyed.key ^ row[0].key;
  scratch.resize(row.size());
  std::vector<size_t> starts;
  for (int shift = 0; shift < 64; shift += digit_bits) {
    if (((differing >> shift) & mask) == 0) continue;
    starts.assign(static_cast<size_t>(mask) + 2, 0);
    for (const Keyed& keyed : row) ++starts[((keyed.key >> shift) & mask) + 1];
    for (size_t d = 1; d < starts.size(); ++d) starts[d] += starts[d - 1];
    for (const Keyed& keyed : row) scratch[starts[(keyed.key >> shift) & mask]++] = keyed;
    row.swap(scratch);
  }
}

Status SortByKeys(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const KeyOrder order = *KeyOrderOf(*hlo[kToApply]);
  const int64_t size = operands[0].dims().back(), rows = operands[0].count() / size;
  std::vector<std::byte*> outs;
  for (Array& result : results) outs.push_back(result.mutable_data());
  const Array& keyed_by = operands[order.operand];
  ForBlocks(pool, rows, std::max<int64_t>(1, (1 << 12) / size), [&](int64_t begin, int64_t end) {
    std::vector<Keyed> row(static_cast<size_t>(size)), scratch;
    std::vector<int64_t> places(static_cast<size_t>(size));
    for (int64_t r = begin; r < end; ++r) {
      const int width = keyed_by.element_bytes();
      const Array part(keyed_by.type(), Dims{size},
                       Buffer::Borrow(keyed_by.data() + r * size * width, static_cast<size_t>(size * width)));
      const std::vector<uint64_t> keys = OrderKeys(part, order.floats);
      for (int64_t i = 0; i < size; ++i) {
        const uint64_t key = keys[static_cast<size_t>(i)];
        row[static_cast<size_t>(i)] = {order.descending ? ~key : key, r * size + i};
      }
      RadixSort(row, scratch);
      for (int64_t i = 0; i < size; ++i) places[static_cast<size_t>(i)] = row[static_cast<size_t>(i)].element;
      for (size_t k = 0; k < outs.size(); ++k) {
        const int bytes = operands[k].element_bytes();
        TakeAt(bytes, outs[k] + r * size * bytes, operands[k].data(), places.data(), size);
      }
    }
  });
  return {};
}

}  // namespace

LibraryFunction SortFunction(const Instruction& hlo) {
  const Shape& shape = hlo.operand_shape(0);
  if (shape.ElementCount().value_or(0) <= 0 || hlo[kDimensions][0] != shape.rank() - 1) return nullptr;
  // Where the order of equal elements is not asked for, it is the interpreter's, unless it cannot be seen.
  if (!hlo[kIsStable] && hlo.operand_count() != 1) return nullptr;
  return KeyOrderOf(*hlo[kToApply]) ? &SortByKeys : nullptr;
}

}  // namespace shoal
