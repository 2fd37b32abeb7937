#include "compile/codegen/apply.h"

#include "compile/codegen/complex_builder.h"
#include "core/ops/families.h"
#include "core/ops/working_types.h"

namespace shoal::internal {
namespace {

using ApplyFunction = Num (*)(VectorBuilder& builder, std::span<const Num> operands);

// Calls Apply of ops that take only operands; null for other ops.
template <Opcode op>
constexpr ApplyFunction Row() {
  if constexpr (Op<op>::kClass == OpClass::kElementwise && op != Opcode::kComplex) {
    if constexpr (requires(VectorBuilder & b, Num x) { Op<op>::Apply(b, x); })
      return [](VectorBuilder& b, std::span<const Num> x) { return Op<op>::Apply(b, x[0]); };
    else if constexpr (requires(VectorBuilder & b, Num x) { Op<op>::Apply(b, x, x); })
      return [](VectorBuilder& b, std::span<const Num> x) { return Op<op>::Apply(b, x[0], x[1]); };
    else if constexpr (requires(VectorBuilder & b, Num x) { Op<op>::Apply(b, x, x, x); })
      return [](VectorBuilder& b, std::span<const Num> x) { return Op<op>::Apply(b, x[0], x[1], x[2]); };
  }
  return nullptr;
}

template <Opcode op>
constexpr ApplyFunction RowOf() {
  if constexpr (op == Opcode::kCompare)
    return nullptr;  // also takes a direction
  else
    return Row<op>();
}

constexpr ApplyFunction kRows[] = {
#define OP(Name, text, arity) RowOf<Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
};

using ComplexFunction = Num (*)(ComplexBuilder& builder, std::span<const Num> operands);

// Calls Apply with complex operands; null for ops that do not support them.
template <Opcode op>
constexpr ComplexFunction ComplexRow() {
  if constexpr (op == Opcode::kSelect) {
    return [](ComplexBuilder& b, std::span<const Num> x) { return Op<op>::Apply(b, x[0], x[1], x[2]); };
  } else if constexpr (AppliesToComplex<op>() || op == Opcode::kLogistic) {
    if constexpr (requires(VectorBuilder & b, Num x) { Op<op>::Apply(b, x); })
      return [](ComplexBuilder& b, std::span<const Num> x) { return Op<op>::Apply(b, x[0]); };
    else if constexpr (requires(VectorBuilder & b, Num x) { Op<op>::Apply(b, x, x); })
      return [](ComplexBuilder& b, std::span<const Num> x) { return Op<op>::Apply(b, x[0], x[1]); };
  }
  return nullptr;
}

constexpr ComplexFunction kComplexRows[] = {
#define OP(Name, text, arity) ComplexRow<Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
};

// Applies an op with complex operands or a complex result.
Num ApplyComplex(VectorBuilder& parts, const KernelNode& node, std::span<const Num> operands) {
  ComplexBuilder builder(parts);
  if (node.opcode == Opcode::kConvert) return builder.Convert(operands[0], node.type);
  if (node.opcode == Opcode::kCompare) return Op<Opcode::kCompare>::Apply(builder, node.direction, operands[0], operands[1]);
  if (node.opcode == Opcode::kComplex) return {operands[0].value, node.type, operands[1].value};
  return kComplexRows[static_cast<size_t>(node.opcode)](builder, operands);
}

}  // namespace

Num ApplyBinary(VectorBuilder& builder, Opcode opcode, Num x, Num y) {
  const Num operands[] = {x, y};
  return kRows[static_cast<size_t>(opcode)](builder, std::span<const Num>(operands));
}

Num ApplyNode(VectorBuilder& builder, const KernelNode& node, std::span<const Num> operands) {
  if (IsComplex(node.type) || IsComplex(operands[operands.size() - 1].type)) return ApplyComplex(builder, node, operands);
  if (node.opcode == Opcode::kConvert) return builder.Convert(operands[0], node.type);
  if (node.opcode == Opcode::kBitcastConvert) return builder.BitcastConvert(operands[0], node.type);
  if (node.opcode == Opcode::kReducePrecision)
    return builder.Rounded(builder.ReducePrecision(operands[0], static_cast<int>(node.bits[0]), static_cast<int>(node.bits[1])));
  if (node.opcode == Opcode::kCompare) {
    Num x = operands[0], y = operands[1];
    if (node.total_order) x = builder.TotalOrderKey(x), y = builder.TotalOrderKey(y);
    return Op<Opcode::kCompare>::Apply(builder, node.direction, x, y);
  }
  Num result = kRows[static_cast<size_t>(node.opcode)](builder, operands);
  result.type = node.type;
  return ReturnsAnOperand(node.opcode) ? result : builder.Rounded(result);
}

}  // namespace shoal::internal
