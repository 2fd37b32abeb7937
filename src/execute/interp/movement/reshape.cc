// Ops that keep the elements and change the shape: reshape, and ops on dimensions of dynamic size.
#include <algorithm>

#include "execute/interp/evaluate.h"
#include "execute/interp/movement/reshape.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

// If the operand has fewer elements than its bound, the result's dynamic dimensions shrink. A dimension with the same
// bound as a dynamic operand dimension takes that size. The last dynamic dimension takes the remaining factor.
Dims ReshapedDims(const Array& operand, const Shape& from, const Shape& to) {
  Dims dims = ToDims(to.dims());
  if (ElementCount(AsInts(dims)) == operand.count() || !to.has_dynamic()) return dims;
  int64_t rest = -1, others = 1;
  std::vector<bool> used(static_cast<size_t>(from.rank()), false);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!to.is_dynamic(static_cast<int64_t>(d))) continue;
    for (size_t f = 0; f < used.size(); ++f) {
      if (used[f] || !from.is_dynamic(static_cast<int64_t>(f)) || from.dims()[f] != dims[d]) continue;
      used[f] = true;
      dims[d] = operand.dims()[f];
      break;
    }
    rest = static_cast<int64_t>(d);
  }
  if (ElementCount(AsInts(dims)) == operand.count() || rest < 0) return dims;
  for (size_t d = 0; d < dims.size(); ++d) others *= static_cast<int64_t>(d) == rest ? 1 : dims[d];
  dims[static_cast<size_t>(rest)] = others == 0 ? 0 : operand.count() / others;
  return dims;
}

template <>
Result<Value> Evaluate<Opcode::kReshape>(Call& call) {
  const Array& operand = call.array(0);
  Dims dims = ReshapedDims(operand, call.hlo.operand_shape(0), call.hlo.shape());
  if (ElementCount(AsInts(dims)) != operand.count())
    return ExecutionError(call.hlo,
                   StrCat("reshape of ", ToString(operand), " to ", ToString(AsInts(dims)), ": element counts differ"));
  return Value(operand.WithDims(std::move(dims)));
}

template <>
Result<Value> Evaluate<Opcode::kDynamicReshape>(Call& call) {
  Dims dims;
  for (size_t i = 1; i < call.operands.size(); ++i) dims.push_back(IntAt(call.array(i), 0));
  const bool negative = std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; });
  if (negative || ElementCount(AsInts(dims)) != call.array(0).count())
    return ExecutionError(call.hlo, StrCat("dynamic-reshape of ", ToString(call.array(0)), " to ", ToString(AsInts(dims)),
                                           ": element counts differ"));
  return Value(call.array(0).WithDims(std::move(dims)));
}

template <>
Result<Value> Evaluate<Opcode::kGetDimensionSize>(Call& call) {
  // The type is s32, or u32 in old modules.
  return Value(Array::Scalar<int32_t>(call.hlo.shape().element_type(),
                                      static_cast<int32_t>(call.array(0).dim(call.hlo[kDimensions][0]))));
}

template <>
Result<Value> Evaluate<Opcode::kSetDimensionSize>(Call& call) {
  const Array& operand = call.array(0);
  const int64_t d = call.hlo[kDimensions][0];
  const int64_t size = std::clamp<int64_t>(IntAt(call.array(1), 0), 0, call.hlo.shape().dim(d));
  if (size == operand.dim(d)) return std::move(call.operands[0]);
  Dims dims = ToDims(operand.dims());
  dims[static_cast<size_t>(d)] = size;
  // A dimension that grows is filled with zeros.
  Array out = Array::Zeros(operand.type(), AsInts(dims));
  const Strided to{0, RowMajorStrides(out.dims())};
  dims[static_cast<size_t>(d)] = std::min(size, operand.dim(d));
  CopyStrided(AsInts(dims), operand.element_bytes(), out.mutable_data(), to, operand.data(),
              {0, RowMajorStrides(operand.dims())});
  return Value(std::move(out));
}

}  // namespace shoal::internal
