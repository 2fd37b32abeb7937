#include "interp/movement/bitcast.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "interp/evaluate.h"
#include "interp/movement/reshape.h"
#include "kernels/strided.h"

namespace shoal {
namespace {

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

// A factor of the sizes of both shapes that lies in memory as one: how many elements, and how far apart they are in
// row-major arrays of the two shapes.
struct Factor {
  int64_t size = 1, from = 1, to = 1;
};

// The dimensions of a shape, from the fastest in memory to the slowest, handed out factor by factor.
class Dimensions {
 public:
  explicit Dimensions(const Shape& shape)
      : order_(MajorToMinor(shape)), sizes_(ToDims(shape.dims())), strides_(RowMajorStrides(shape.dims())) {}

  // What is left of the fastest; 1 when there is nothing.
  int64_t Left() {
    while (!order_.empty() && sizes_[Fastest()] == 1) order_.pop_back();
    return order_.empty() ? 1 : sizes_[Fastest()];
  }
  // Takes a factor of it; gives its stride.
  int64_t Take(int64_t factor) {
    const int64_t stride = strides_[Fastest()];
    sizes_[Fastest()] /= factor;
    strides_[Fastest()] *= factor;
    return stride;
  }

 private:
  size_t Fastest() const { return static_cast<size_t>(order_.back()); }

  Dims order_, sizes_, strides_;
};

// Nothing where the sizes have no such factors, as 6 and 4,3.
std::optional<std::vector<Factor>> CommonFactors(const Shape& from, const Shape& to) {
  Dimensions a(from), b(to);
  std::vector<Factor> factors;
  while (a.Left() != 1 || b.Left() != 1) {
    const int64_t size = std::min(a.Left(), b.Left());
    if (size <= 1 || std::max(a.Left(), b.Left()) % size != 0) return std::nullopt;
    const int64_t stride = a.Take(size);
    factors.push_back({size, stride, b.Take(size)});
  }
  return factors;
}

// No element moves.
bool AllStay(const std::vector<Factor>& factors) {
  return std::all_of(factors.begin(), factors.end(), [](const Factor& factor) { return factor.from == factor.to; });
}

// Elements of the same width in the order of the other layout, in one copy at most.
Array Moved(const Array& array, std::vector<Factor> factors, const Shape& to) {
  if (AllStay(factors)) return array.WithDims(ToDims(to.dims())).WithType(to.element_type());
  std::sort(factors.begin(), factors.end(), [](const Factor& a, const Factor& b) { return a.to > b.to; });
  Dims sizes;
  Strided from;
  for (const Factor& factor : factors) {
    sizes.push_back(factor.size);
    from.strides.push_back(factor.from);
  }
  return Gathered(array, std::move(sizes), from).WithDims(ToDims(to.dims())).WithType(to.element_type());
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

// In a bitcast a pred is a byte.
int BitsOf(ElementType type) { return type == ElementType::kPred ? 8 : BitWidth(type); }

// The same bits as elements of another type: a narrower one takes several places, the low bits first.
Array AsType(const Array& array, ElementType type, Dims dims) {
  if (type == ElementType::kPred && array.type() != type) {  // whatever is not zero is true
    Array out(type, std::move(dims));
    const Array bytes = AsType(array, ElementType::kU8, ToDims(out.dims()));
    auto to = out.Mutable<uint8_t>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = bytes.As<uint8_t>()[i] != 0 ? 1 : 0;
    return out;
  }
  if (BitsOf(type) == BitsOf(array.type())) return array.WithType(type).WithDims(std::move(dims));
  if (BitsOf(type) >= 8 && BitsOf(array.type()) >= 8) {
    Array same = array;
    const auto* data = std::as_const(same).data();
    Array out(type, std::move(dims));
    if (out.bytes() != 0) std::memcpy(out.mutable_data(), data, static_cast<size_t>(out.bytes()));
    return out;
  }
  // Below a byte each element has a byte of its own, so bits have to be gathered.
  Array out = Array::Zeros(type, AsInts(dims));
  const int from_bits = BitsOf(array.type()), to_bits = BitsOf(type);
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

bool IsReshape(const Shape& from, const Shape& to) {
  if (from.ElementCount() == 0) return true;
  const std::optional<std::vector<Factor>> factors = CommonFactors(from, to);
  return factors && AllStay(*factors);
}

// Memory stays as it is and is seen through another layout.
template <>
Result<Value> Evaluate<Opcode::kBitcast>(Call& call) {
  const Shape& from = call.hlo.operand_shape(0);
  const Shape& to = call.hlo.shape();
  if (!to.IsArray()) return std::move(call.operands[0]);
  if (from.has_dynamic() || to.has_dynamic())
    return Value(call.array(0).WithDims(ReshapedDims(call.array(0), from, to)).WithType(to.element_type()));
  if (BitsOf(from.element_type()) == BitsOf(to.element_type()))
    if (std::optional<std::vector<Factor>> factors = CommonFactors(from, to))
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
