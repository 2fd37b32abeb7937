#include "interp/evaluate.h"
#include "interp/movement/reshape.h"
#include "kernels/layout_factors.h"

namespace shoal {
namespace {

Diag OtherBits(const Instruction& hlo, const Array& array) {
  return Stopped(hlo, StrCat("bitcast sees the same bits, but ", ToString(array), " has others than ",
                             ToString(hlo.shape(), /*with_layout=*/false)));
}

}  // namespace

// Memory stays as it is and is seen through another layout.
template <>
Result<Value> Evaluate<Opcode::kBitcast>(Call& call) {
  const Shape& from = call.hlo.operand_shape(0);
  const Shape& to = call.hlo.shape();
  if (!to.IsArray()) return std::move(call.operands[0]);
  if (from.has_dynamic() || to.has_dynamic()) {
    Dims dims = ReshapedDims(call.array(0), from, to);
    if (ElementCount(AsInts(dims)) != call.array(0).count() || from.element_type() != to.element_type())
      return OtherBits(call.hlo, call.array(0));
    return Value(call.array(0).WithDims(std::move(dims)));
  }
  if (call.array(0).count() * BitcastBits(from.element_type()) != ElementCount(to.dims()) * BitcastBits(to.element_type()))
    return OtherBits(call.hlo, call.array(0));
  if (BitcastBits(from.element_type()) == BitcastBits(to.element_type()))
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
  return Value(AsType(call.array(0), to.element_type(), std::move(dims)));
}

}  // namespace shoal
