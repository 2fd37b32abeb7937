// Rebuilds comparisons of floats in total order from the comparisons of integers that XLA:CPU expands them to:
//   key(x) = select(b < 0, max ^ b, b), where b = bitcast(x) is a signed integer and max its largest value
// compare(key(x), key(y)) becomes compare(x, y), order=TOTAL. Only comparators and other functions of scalars have these.
#include <cstring>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

// The bits of a scalar integer constant, zero-extended.
std::optional<uint64_t> BitsOf(const Instruction& hlo) {
  const Literal* literal = IsConstant(hlo) && hlo.shape().IsScalar() ? hlo[kConstantValue] : nullptr;
  if (literal == nullptr || literal->elided || !IsInteger(hlo.shape().element_type())) return std::nullopt;
  uint64_t bits = 0;
  if (!literal->data.empty()) std::memcpy(&bits, literal->data.data(), std::min<size_t>(8, literal->data.size()));
  const int width = BitWidth(hlo.shape().element_type());
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

// For a scalar integer with the bits of a float: the float.
Instruction* FloatOf(const Instruction& hlo) {
  const bool has_bits = IsScalarCast(hlo) && IsInteger(hlo.shape().element_type());
  return has_bits && IsFloat(hlo.operand_shape(0).element_type()) ? hlo.operands[0] : nullptr;
}

bool IsNegative(const Instruction& hlo, const Instruction& bits) {
  return IsCompare(hlo) && DirectionOf(hlo) == ComparisonDirection::kLt && hlo.operands[0] == &bits && BitsOf(*hlo.operands[1]) == 0;
}

// True for `max` ^ `bits`.
bool IsFlipped(const Instruction& hlo, const Instruction& bits) {
  if (hlo.opcode != Opcode::kXor) return false;
  const uint64_t max = (uint64_t{1} << (BitWidth(bits.shape().element_type()) - 1)) - 1;
  for (size_t i : {0, 1})
    if (hlo.operands[i] == &bits && BitsOf(*hlo.operands[1 - i]) == max) return true;
  return false;
}

// For key(x): x.
Instruction* KeyedFloat(const Instruction& hlo) {
  if (!IsSelect(hlo)) return nullptr;
  const Instruction& bits = *hlo.operands[2];
  Instruction* number = FloatOf(bits);
  if (number == nullptr || !IsSigned(bits.shape().element_type())) return nullptr;
  return IsNegative(*hlo.operands[0], bits) && IsFlipped(*hlo.operands[1], bits) ? number : nullptr;
}

// The floats that a comparison of integers compares in total order; null if there are none. Equality of the bits is
// equality in total order.
std::pair<Instruction*, Instruction*> ComparedFloats(const Instruction& comparison) {
  using Direction = ComparisonDirection;
  const Direction direction = DirectionOf(comparison);
  for (const auto source : {KeyedFloat, FloatOf}) {
    if (source == FloatOf && direction != Direction::kEq && direction != Direction::kNe) continue;
    Instruction *a = source(*comparison.operands[0]), *b = source(*comparison.operands[1]);
    if (a != nullptr && b != nullptr && a->shape().element_type() == b->shape().element_type()) return {a, b};
  }
  return {};
}

}  // namespace

Result<bool> RebuildComparisons(Module& module, const PassContext& context) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before) {
      if (!IsCompare(*hlo) || !hlo->shape().IsScalar() || !(*hlo)[kControlPredecessors].empty()) continue;
      const auto [a, b] = ComparedFloats(*hlo);
      if (a == nullptr) continue;
      Instruction* rebuilt = CopyInstruction(module, *computation, *hlo, std::vector{a, b});
      SetAttr(*rebuilt, module, Op<Opcode::kCompare>::kOrder.id, EnumValue{static_cast<uint8_t>(ComparisonOrder::kTotal)});
      DropAttr(*rebuilt, module, Op<Opcode::kCompare>::kType.id);
      replacements[hlo] = rebuilt;
    }
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any ? RemoveDeadCode(module, context) : Result<bool>(false);
}

}  // namespace shoal::internal
