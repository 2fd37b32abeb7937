#include "core/ops/complex_ops.h"

#include <algorithm>

#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr bool kAppliesToComplex[] = {
#define OP(Name, text, arity) AppliesToComplex<Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
    false};

}  // namespace

bool HasComplex(const Instruction& hlo) {
  auto is_complex = [](const Shape& shape) { return shape.IsArray() && IsComplex(shape.element_type()); };
  return is_complex(hlo.shape()) ||
         std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* o) { return is_complex(o->shape()); });
}

bool IsSimpleComplexOp(const Instruction& hlo) {
  const ElementType type = hlo.shape().element_type();
  const size_t first = hlo.opcode == Opcode::kSelect ? 1 : 0;  // skips the predicate
  const ElementType operand = hlo.operand_shape(first).element_type();
  for (size_t i = first + 1; i < hlo.operand_count(); ++i)
    if (hlo.operand_shape(i).element_type() != operand) return false;
  switch (hlo.opcode) {
    case Opcode::kComplex:
      return operand == PartType(type);
    case Opcode::kConvert:
      return true;
    case Opcode::kSelect:
    case Opcode::kLogistic:  // each of its ops rounds
      return type == operand;
    case Opcode::kCompare:
      return DirectionOf(hlo) == ComparisonDirection::kEq || DirectionOf(hlo) == ComparisonDirection::kNe;
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kAbs:
      return type == PartType(operand);
    default:
      return kAppliesToComplex[static_cast<size_t>(hlo.opcode)] && type == operand;
  }
}

}  // namespace shoal::internal
