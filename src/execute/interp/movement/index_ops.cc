// Ops that move elements without computing: result[i] = operand[f(i)], where f is a sum of strides.
#include <algorithm>
#include <numeric>

#include "kernels/elementwise/element_loops.h"
#include "execute/interp/evaluate.h"
#include "core/ir/sizes.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

template <>
Result<Value> Evaluate<Opcode::kBroadcast>(Call& call) {
  const Array& operand = call.array(0);
  const Ints dimensions = call.hlo[kDimensions];
  const Dims strides = RowMajorStrides(operand.dims());
  Dims dims = ToDims(call.hlo.shape().dims());
  Strided from{0, Dims(dims.size(), 0)};
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const auto to = static_cast<size_t>(dimensions[d]);
    const int64_t size = operand.dim(static_cast<int64_t>(d));
    const bool grows = size == 1 && call.hlo.operand_shape(0).dim(static_cast<int64_t>(d)) == 1;
    if (grows) continue;  // stride 0 repeats the single element
    dims[to] = size;
    from.strides[to] = strides[d];
  }
  return Value(Gathered(operand, std::move(dims), from));
}

template <>
Result<Value> Evaluate<Opcode::kTranspose>(Call& call) {
  return Value(Transposed(call.array(0), call.hlo[kDimensions]));
}

template <>
Result<Value> Evaluate<Opcode::kReverse>(Call& call) {
  const Array& operand = call.array(0);
  Strided from{0, RowMajorStrides(operand.dims())};
  for (int64_t d : call.hlo[kDimensions]) {
    int64_t& stride = from.strides[static_cast<size_t>(d)];
    from.offset += stride * (operand.dim(d) - 1);
    stride = -stride;
  }
  return Value(Gathered(operand, ToDims(operand.dims()), from));
}

template <>
Result<Value> Evaluate<Opcode::kSlice>(Call& call) {
  const Array& operand = call.array(0);
  Strided from{0, RowMajorStrides(operand.dims())};
  Dims dims;
  size_t d = 0;
  for (const SliceRange& range : call.hlo[Op<Opcode::kSlice>::kSlice]) {
    // The actual size of a dynamic dimension may be less than the limit.
    const int64_t limit = std::min(range.limit, operand.dims()[d]);
    const int64_t start = std::min(range.start, limit);
    dims.push_back(CeilDiv(limit - start, range.stride));
    from.offset += start * from.strides[d];
    if (dims.back() > 1) from.strides[d] *= range.stride;  // avoids overflow: a single element needs no stride
    ++d;
  }
  return Value(Gathered(operand, std::move(dims), from));
}

template <>
Result<Value> Evaluate<Opcode::kConcatenate>(Call& call) {
  const auto along = static_cast<size_t>(call.hlo[kDimensions][0]);
  Dims dims = ToDims(call.array(0).dims());
  dims[along] = 0;
  for (const Value& operand : call.operands) dims[along] += operand.array().dims()[along];
  Array out(call.array(0).type(), dims);
  std::byte* data = out.mutable_data();
  Strided to{0, RowMajorStrides(out.dims())};
  for (const Value& value : call.operands) {
    const Array& operand = value.array();
    CopyStrided(operand.dims(), operand.element_bytes(), data, to, operand.data(),
                {0, RowMajorStrides(operand.dims())});
    to.offset += operand.dims()[along] * to.strides[along];
  }
  return Value(std::move(out));
}

// Element i of a dimension moves to index low + i * (interior + 1) if that is in bounds.
template <>
Result<Value> Evaluate<Opcode::kPad>(Call& call) {
  const Array& operand = call.array(0);
  const auto padding = call.hlo[Op<Opcode::kPad>::kPadding];
  const Dims in_strides = RowMajorStrides(operand.dims());
  Dims dims;
  for (size_t d = 0; d < padding.size(); ++d) {
    const int64_t size = operand.dims()[d];
    const __int128 spread = size + static_cast<__int128>(std::max<int64_t>(0, size - 1)) * padding[d].interior;
    dims.push_back(static_cast<int64_t>(std::max<__int128>(0, spread + padding[d].low + padding[d].high)));
  }
  Array out = Gathered(call.array(1), dims, {0, Dims(dims.size(), 0)});
  const Dims out_strides = RowMajorStrides(out.dims());
  Strided from{0, in_strides}, to{0, out_strides};
  Dims sizes;
  for (size_t d = 0; d < padding.size(); ++d) {
    // Low, high and interior may each be as large as int64 allows, provided that the result size is valid.
    const auto step = static_cast<__int128>(padding[d].interior) + 1, low = static_cast<__int128>(padding[d].low);
    const __int128 first = low >= 0 ? 0 : (-low + step - 1) / step;
    const __int128 available = dims[d] - low;  // elements i with i * step < available are in bounds
    const __int128 end = available <= 0 ? 0 : std::min<__int128>(operand.dims()[d], (available + step - 1) / step);
    sizes.push_back(static_cast<int64_t>(std::max<__int128>(0, end - first)));
    if (sizes.back() == 0) continue;
    from.offset += static_cast<int64_t>(first) * in_strides[d];
    to.offset += static_cast<int64_t>(low + first * step) * out_strides[d];
    if (sizes.back() > 1) to.strides[d] = static_cast<int64_t>(step) * out_strides[d];
  }
  CopyStrided(AsInts(sizes), operand.element_bytes(), out.mutable_data(), to, operand.data(), from);
  return Value(std::move(out));
}

template <>
Result<Value> Evaluate<Opcode::kIota>(Call& call) {
  const Shape& shape = call.hlo.shape();
  if (shape.ElementCount() == 0) return Value(Array(shape.element_type(), shape.dims()));
  const auto along = static_cast<size_t>(call.hlo[Op<Opcode::kIota>::kIotaDimension]);
  const int64_t size = shape.dims()[along];
  Array numbers(ElementType::kS64, Dims{size});
  std::span<int64_t> out = numbers.Mutable<int64_t>();
  std::iota(out.begin(), out.end(), 0);
  Strided from{0, Dims(shape.dims().size(), 0)};
  from.strides[along] = 1;
  return Value(Gathered(Converted(numbers, shape.element_type()), ToDims(shape.dims()), from));
}

template <>
Result<Value> Evaluate<Opcode::kCopy>(Call& call) {
  return std::move(call.operands[0]);
}

}  // namespace shoal::internal
