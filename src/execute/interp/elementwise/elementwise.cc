#include <algorithm>

#include "execute/interp/evaluate.h"
#include "kernels/arrays/strided.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

// The common dimensions of the operands. If dynamic sizes differ, a size of 1 is broadcast as in XLA; otherwise the
// result has the minimum size.
Dims CommonDims(const Call& call, bool scalar_allowed) {
  const Array* widest = &call.array(0);
  for (size_t i = 1; i < call.operands.size(); ++i)
    if (call.array(i).rank() > widest->rank()) widest = &call.array(i);
  Dims dims = ToDims(widest->dims());
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (scalar_allowed && call.array(i).rank() == 0) continue;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t size = call.array(i).dims()[d];
      dims[d] = dims[d] == 1 ? size : size == 1 ? dims[d] : std::min(dims[d], size);
    }
  }
  return dims;
}

}  // namespace

Result<Value> EvaluateElementwise(Call& call) {
  const ElementLoop kernel = call.kernel != nullptr ? *call.kernel : ElementLoopFor(call.hlo);
  if (kernel.loop == nullptr)
    return ExecutionError(call.hlo, StrCat(Text(call.hlo.opcode), " is not defined for ", Text(kernel.operands[0])));
  const Dims dims = CommonDims(call, call.operands.size() == 3);
  const std::byte* in[3] = {};
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Array& operand = call.operands[i].array();
    if (operand.dims().size() != dims.size() || !std::equal(dims.begin(), dims.end(), operand.dims().begin())) {
      // The operand is a scalar (a bound or predicate), or its size differs because only one operand is dynamic.
      Strided from{0, operand.rank() == 0 ? Dims(dims.size(), 0) : RowMajorStrides(operand.dims())};
      for (size_t d = 0; d < operand.dims().size(); ++d)
        if (operand.dims()[d] == 1) from.strides[d] = 0;
      operand = Gathered(operand, dims, from);
    }
    in[i] = operand.data();
  }
  // The loops read an element before they write it, so the result may overwrite an operand of equal element width.
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Array& operand = call.operands[i].array();
    if (!operand.unique() || operand.element_bytes() != StorageBytes(kernel.result)) continue;
    Array out = std::move(operand);
    kernel.Run(out.mutable_data(), in, out.count());
    return Value(out.WithType(kernel.result));
  }
  Array out(kernel.result, dims);
  kernel.Run(out.mutable_data(), in, out.count());
  return Value(std::move(out));
}

}  // namespace shoal::internal
