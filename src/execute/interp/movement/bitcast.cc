#include "core/ops/in_place.h"
#include "execute/interp/evaluate.h"
#include "execute/interp/movement/reshape.h"
#include "kernels/arrays/layout_factors.h"

namespace shoal::internal {

// Reinterprets the same memory with another layout.
template <>
Result<Value> Evaluate<Opcode::kBitcast>(Call& call) {
  const Shape& from = call.hlo.operand_shape(0);
  const Shape& to = call.hlo.shape();
  if (!to.IsArray()) return std::move(call.operands[0]);
  const bool dynamic = from.has_dynamic() || to.has_dynamic();
  const Dims dims = dynamic ? ReshapedDims(call.array(0), from, to) : ToDims(to.dims());
  const int from_bits = BitcastBits(from.element_type()), to_bits = BitcastBits(to.element_type());
  if (call.array(0).count() * from_bits != ElementCount(AsInts(dims)) * to_bits || (dynamic && from_bits != to_bits))
    return ExecutionError(call.hlo, StrCat("bitcast must preserve the number of bits, got ", ToString(call.array(0)),
                                           " to ", ToString(to, /*with_layout=*/false)));
  if (dynamic) return Value(call.array(0).WithDims(dims).WithType(to.element_type()));
  if (from_bits == to_bits)
    if (std::optional<std::vector<LayoutFactor>> factors = CommonFactors(from, to))
      return Value(Moved(call.array(0), std::move(*factors), to));
  const Array memory = InMemoryOrder(call.array(0), from);
  return Value(FromMemoryOrder(AsType(memory, to.element_type(), ToDims(to.dims())), to));
}

template <>
Result<Value> Evaluate<Opcode::kBitcastConvert>(Call& call) {
  const Shape& to = call.hlo.shape();
  Dims dims = ToDims(call.array(0).dims());
  if (to.dims().size() > dims.size()) dims.push_back(to.dims().back());
  if (to.dims().size() < dims.size()) dims.pop_back();
  if (HasWholeByteElements(call.hlo)) return Value(call.array(0).Reinterpreted(to.element_type(), std::move(dims)));
  return Value(AsType(call.array(0), to.element_type(), std::move(dims)));
}

}  // namespace shoal::internal
