#include "codegen/apply.h"

#include "ops/families.h"
#include "ops/working_types.h"

namespace shoal {
namespace {

using ApplyFunction = Num (*)(VectorBuilder& builder, std::span<const Num> operands);

// The ops whose Apply takes its operands and nothing else; null for the others.
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
    return nullptr;  // takes a direction too
  else
    return Row<op>();
}

constexpr ApplyFunction kRows[] = {
#define OP(Name, text, arity) RowOf<Opcode::k##Name>(),
#include "ops/ops.def"
#undef OP
};

}  // namespace

Num ApplyBinary(VectorBuilder& builder, Opcode opcode, Num x, Num y) {
  const Num operands[] = {x, y};
  return kRows[static_cast<size_t>(opcode)](builder, std::span<const Num>(operands));
}

Num ApplyNode(VectorBuilder& builder, const KernelNode& node, std::span<const Num> operands) {
  if (node.opcode == Opcode::kConvert) return builder.Convert(operands[0], node.type);
  if (node.opcode == Opcode::kBitcastConvert) return builder.BitcastConvert(operands[0], node.type);
  if (node.opcode == Opcode::kCompare) {
    Num x = operands[0], y = operands[1];
    if (node.total_order) x = builder.TotalOrderKey(x), y = builder.TotalOrderKey(y);
    return Op<Opcode::kCompare>::Apply(builder, node.direction, x, y);
  }
  Num result = kRows[static_cast<size_t>(node.opcode)](builder, operands);
  result.type = node.type;
  return GivesAnOperand(node.opcode) ? result : builder.Rounded(result);
}

}  // namespace shoal
