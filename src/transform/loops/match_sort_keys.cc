#include "transform/loops/match_sort_keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/ops/families.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

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

Canonical CanonicalOf(const Instruction& hlo, int max_selects = 4) {
  if (hlo.opcode == Opcode::kParameter) return {&hlo, false, false};
  if (hlo.opcode != Opcode::kSelect || max_selects == 0) return {};
  const Instruction &choice = *hlo.operands[0], &other = *hlo.operands[2];
  const std::optional<double> number = ConstantValueOf(*hlo.operands[1]);
  Canonical inner = CanonicalOf(other, max_selects - 1);
  if (!number || inner.parameter == nullptr || choice.operand_count() != 2) return {};
  const Canonical tested = CanonicalOf(*choice.operands[0], max_selects - 1);
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

// True if the comparison puts NaNs last, false if it is in total order; no value for other orders.
std::optional<bool> NansLast(const Instruction& comparison, const ComparisonSides& sides) {
  const bool is_partial = comparison[Op<Opcode::kCompare>::kOrder] == ComparisonOrder::kPartial;
  if (sides.first.zeros != sides.first.nans && !is_partial) return std::nullopt;
  return is_partial || sides.first.zeros;
}

std::optional<SortKey> SortKeyOf(const Instruction& comparison) {
  const std::optional<ComparisonSides> sides = ComparisonSidesOf(comparison);
  const bool less = IsComparison(comparison, ComparisonDirection::kLt);
  if (!sides || (!less && !IsComparison(comparison, ComparisonDirection::kGt))) return std::nullopt;
  const std::optional<bool> nans_last = NansLast(comparison, *sides);
  if (!nans_last) return std::nullopt;
  return SortKey{sides->operand, less == sides->crossed, *nans_last};
}

// True if `hlo` tests that both elements have equal keys in this order, or for kNe, that the keys differ. NaNs that are
// not canonicalized are not equal to themselves.
bool IsTie(const Instruction& hlo, const SortKey& key, ComparisonDirection direction = ComparisonDirection::kEq) {
  if (!IsComparison(hlo, direction)) return false;
  const std::optional<ComparisonSides> sides = ComparisonSidesOf(hlo);
  if (!sides || sides->operand != key.operand || NansLast(hlo, *sides) != key.nans_last) return false;
  return !IsFloat(hlo.operand_shape(0).element_type()) || hlo[Op<Opcode::kCompare>::kOrder] == ComparisonOrder::kTotal;
}

// The parts of a comparator that orders by `first`, then by the comparison `rest`.
struct Chain {
  SortKey first;
  const Instruction* rest = nullptr;
};

// Matches "a.k < b.k || (a.k == b.k && rest)".
std::optional<Chain> MatchOr(const Instruction& root) {
  if (root.opcode != Opcode::kOr) return std::nullopt;
  for (size_t i : {0, 1}) {
    const std::optional<SortKey> first = SortKeyOf(*root.operands[i]);
    const Instruction& both = *root.operands[1 - i];
    if (!first || both.opcode != Opcode::kAnd) continue;
    for (size_t j : {0, 1})
      if (IsTie(*both.operands[j], *first)) return Chain{*first, both.operands[1 - j]};
  }
  return std::nullopt;
}

// True for "(a.k < b.k) == (b.k < a.k)", with which XLA:GPU tests for equal keys.
bool IsNeitherLess(const Instruction& hlo, const SortKey& key) {
  if (!IsComparison(hlo, ComparisonDirection::kEq) || hlo.operand_shape(0).element_type() != ElementType::kPred) return false;
  const std::optional<SortKey> a = SortKeyOf(*hlo.operands[0]), b = SortKeyOf(*hlo.operands[1]);
  if (!a || !b || a->descending == b->descending) return false;
  return a->operand == key.operand && b->operand == key.operand && a->nans_last == key.nans_last && b->nans_last == key.nans_last;
}

// Matches "a.k == b.k ? rest : a.k < b.k" and "a.k != b.k ? a.k < b.k : rest".
std::optional<Chain> MatchSelect(const Instruction& root) {
  if (root.opcode != Opcode::kSelect) return std::nullopt;
  for (size_t i : {1, 2}) {
    const std::optional<SortKey> first = SortKeyOf(*root.operands[i]);
    const ComparisonDirection tie = i == 2 ? ComparisonDirection::kEq : ComparisonDirection::kNe;
    const Instruction& choice = *root.operands[0];
    if (first && (IsTie(choice, *first, tie) || (i == 2 && IsNeitherLess(choice, *first)))) return Chain{*first, root.operands[3 - i]};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<SortKey>> MatchSortKeys(const Computation& comparator) {
  if (HasEffects(comparator)) return std::nullopt;
  std::vector<SortKey> keys;
  const Instruction* rest = comparator.root;
  while (true) {
    if (const std::optional<SortKey> last = SortKeyOf(*rest)) {
      keys.push_back(*last);
      return keys;
    }
    std::optional<Chain> chain = MatchOr(*rest);
    if (!chain) chain = MatchSelect(*rest);
    if (!chain) return std::nullopt;
    keys.push_back(chain->first);
    rest = chain->rest;
  }
}

}  // namespace shoal::internal
