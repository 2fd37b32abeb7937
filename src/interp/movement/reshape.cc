// The same elements under another shape: reshape, bitcast, bitcast-convert, and dimensions whose size is data.
#include <algorithm>
#include <cstring>

#include "interp/evaluate.h"
#include "kernels/strided.h"

namespace shoal {
namespace {

// The sizes of a reshape's result. Where the operand has fewer elements than its bound, dynamic dimensions take what
// is left: those that have the bound of a dynamic dimension of the operand take its size, the last one the rest.
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

// Dimensions from the slowest in memory to the fastest; row-major where the text gives no layout.
Dims MajorToMinor(const Shape& shape) {
  Dims order;
  if (shape.layout() != nullptr) {
    const Ints minor = shape.layout()->minor_to_major;
    order.assign(minor.rbegin(), minor.rend());
  }
  if (order.size() == shape.dims().size()) return order;
  order.clear();
  for (int64_t d = 0; d < shape.rank(); ++d) order.push_back(d);
  return order;
}

// The elements in the order in which the layout has them in memory.
Array InMemoryOrder(const Array& array, const Shape& shape) {
  const Dims order = MajorToMinor(shape);
  return std::is_sorted(order.begin(), order.end()) ? array : Transposed(array, AsInts(order));
}

// The array of `shape` whose elements lie in memory as given.
Array FromMemoryOrder(const Array& memory, const Shape& shape) {
  const Dims order = MajorToMinor(shape);
  Dims physical, inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    physical.push_back(shape.dim(order[i]));
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  const Array laid_out = memory.WithDims(physical);
  return std::is_sorted(order.begin(), order.end()) ? laid_out : Transposed(laid_out, AsInts(inverse));
}

// The same bits as elements of another type: a narrower one takes several places, the low bits first.
Array AsType(const Array& array, ElementType type, Dims dims) {
  if (BitWidth(type) == BitWidth(array.type())) return array.WithType(type).WithDims(std::move(dims));
  if (BitWidth(type) >= 8 && BitWidth(array.type()) >= 8) {
    Array same = array;
    const auto* data = std::as_const(same).data();
    Array out(type, std::move(dims));
    if (out.bytes() != 0) std::memcpy(out.mutable_data(), data, static_cast<size_t>(out.bytes()));
    return out;
  }
  // Below a byte each element has a byte of its own, so bits have to be gathered.
  Array out = Array::Zeros(type, AsInts(dims));
  const int from_bits = BitWidth(array.type()), to_bits = BitWidth(type);
  auto* to = reinterpret_cast<uint8_t*>(out.mutable_data());
  const auto* from = reinterpret_cast<const uint8_t*>(array.data());
  const int from_width = array.element_bytes(), to_width = out.element_bytes();
  for (int64_t bit = 0; bit < array.count() * from_bits; ++bit) {
    const int64_t in_element = bit / from_bits, in_bit = bit % from_bits;
    const int64_t out_element = bit / to_bits, out_bit = bit % to_bits;
    const int value = from[in_element * from_width + in_bit / 8] >> (in_bit % 8) & 1;
    to[out_element * to_width + out_bit / 8] |= static_cast<uint8_t>(value << (out_bit % 8));
  }
  if (IsSigned(type) && to_bits < 8)
    for (int64_t i = 0; i < out.count(); ++i)
      if ((to[i] >> (to_bits - 1) & 1) != 0) to[i] |= static_cast<uint8_t>(0xff << to_bits);
  return out;
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kReshape>(Call& call) {
  const Array& operand = call.array(0);
  Dims dims = ReshapedDims(operand, call.hlo.operand_shape(0), call.hlo.shape());
  if (ElementCount(AsInts(dims)) != operand.count())
    return Stopped(call.hlo,
                   StrCat("reshape of ", ToString(operand), " to ", ToString(AsInts(dims)), ": the sizes do not fit"));
  return Value(operand.WithDims(std::move(dims)));
}

template <>
Result<Value> Evaluate<Opcode::kDynamicReshape>(Call& call) {
  Dims dims;
  for (size_t i = 1; i < call.operands.size(); ++i) dims.push_back(IntAt(call.array(i), 0));
  const bool negative = std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; });
  if (negative || ElementCount(AsInts(dims)) != call.array(0).count())
    return Stopped(call.hlo, StrCat("dynamic-reshape of ", ToString(call.array(0)), " to ", ToString(AsInts(dims)),
                                    ": the sizes do not fit"));
  return Value(call.array(0).WithDims(std::move(dims)));
}

// Memory stays as it is and is seen through another layout.
template <>
Result<Value> Evaluate<Opcode::kBitcast>(Call& call) {
  const Shape& from = call.hlo.operand_shape(0);
  const Shape& to = call.hlo.shape();
  if (!to.IsArray()) return std::move(call.operands[0]);
  if (from.has_dynamic() || to.has_dynamic())
    return Value(call.array(0).WithDims(ReshapedDims(call.array(0), from, to)).WithType(to.element_type()));
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

template <>
Result<Value> Evaluate<Opcode::kGetDimensionSize>(Call& call) {
  return Value(
      Array::Scalar<int32_t>(ElementType::kS32, static_cast<int32_t>(call.array(0).dim(call.hlo[kDimensions][0]))));
}

template <>
Result<Value> Evaluate<Opcode::kSetDimensionSize>(Call& call) {
  const Array& operand = call.array(0);
  const int64_t d = call.hlo[kDimensions][0];
  const int64_t size = std::clamp<int64_t>(IntAt(call.array(1), 0), 0, call.hlo.shape().dim(d));
  if (size == operand.dim(d)) return std::move(call.operands[0]);
  Dims dims = ToDims(operand.dims());
  dims[static_cast<size_t>(d)] = size;
  // Beyond what there is, a dimension grows by zeros.
  Array out = Array::Zeros(operand.type(), AsInts(dims));
  const Strided to{0, RowMajorStrides(out.dims())};
  dims[static_cast<size_t>(d)] = std::min(size, operand.dim(d));
  CopyStrided(AsInts(dims), operand.element_bytes(), out.mutable_data(), to, operand.data(),
              {0, RowMajorStrides(operand.dims())});
  return Value(std::move(out));
}

}  // namespace shoal
