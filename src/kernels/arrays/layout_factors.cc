#include "kernels/arrays/layout_factors.h"

#include <algorithm>
#include <cstring>

#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

// Splits factors off the dimensions of a shape, from the fastest in memory to the slowest.
class DimensionFactors {
 public:
  explicit DimensionFactors(const Shape& shape)
      : order_(MajorToMinor(shape)), sizes_(ToDims(shape.dims())), strides_(RowMajorStrides(shape.dims())) {}

  // Remaining size of the fastest dimension; 1 at the end.
  int64_t Remaining() {
    while (!order_.empty() && sizes_[Fastest()] == 1) order_.pop_back();
    return order_.empty() ? 1 : sizes_[Fastest()];
  }
  // Splits a factor off the fastest dimension and returns the stride of the factor.
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

}  // namespace

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

std::optional<std::vector<LayoutFactor>> CommonFactors(const Shape& from, const Shape& to) {
  const auto has_size = [](int64_t size) { return size >= 0; };
  if (!std::ranges::all_of(from.dims(), has_size) || !std::ranges::all_of(to.dims(), has_size)) return std::nullopt;
  DimensionFactors a(from), b(to);
  std::vector<LayoutFactor> factors;
  while (a.Remaining() != 1 || b.Remaining() != 1) {
    const int64_t size = std::min(a.Remaining(), b.Remaining());
    if (size <= 1 || std::max(a.Remaining(), b.Remaining()) % size != 0) return std::nullopt;
    const int64_t stride = a.Take(size);
    factors.push_back({size, stride, b.Take(size)});
  }
  return factors;
}

bool IsIdentity(const std::vector<LayoutFactor>& factors) {
  return std::all_of(factors.begin(), factors.end(), [](const LayoutFactor& factor) { return factor.from == factor.to; });
}

bool StaysRowMajor(const Shape& from, const Shape& to) {
  if (from.ElementCount() == 0) return true;
  const std::optional<std::vector<LayoutFactor>> factors = CommonFactors(from, to);
  return factors && IsIdentity(*factors);
}

Array Moved(const Array& array, std::vector<LayoutFactor> factors, const Shape& to) {
  if (IsIdentity(factors)) return array.WithDims(ToDims(to.dims())).WithType(to.element_type());
  std::sort(factors.begin(), factors.end(), [](const LayoutFactor& a, const LayoutFactor& b) { return a.to > b.to; });
  Dims sizes;
  Strided from;
  for (const LayoutFactor& factor : factors) {
    sizes.push_back(factor.size);
    from.strides.push_back(factor.from);
  }
  return Gathered(array, std::move(sizes), from).WithDims(ToDims(to.dims())).WithType(to.element_type());
}

Array InMemoryOrder(const Array& array, const Shape& shape) {
  const Dims order = MajorToMinor(shape);
  return std::is_sorted(order.begin(), order.end()) ? array : Transposed(array, AsInts(order));
}

Array FromMemoryOrder(const Array& memory, const Shape& shape) {
  const Dims order = MajorToMinor(shape);
  Dims physical, inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    physical.push_back(shape.dim(order[i]));
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  const Array in_memory = memory.WithDims(physical);
  return std::is_sorted(order.begin(), order.end()) ? in_memory : Transposed(in_memory, AsInts(inverse));
}

int BitcastBits(ElementType type) { return type == ElementType::kPred ? 8 : BitWidth(type); }

Array AsType(const Array& array, ElementType type, Dims dims) {
  if (type == ElementType::kPred && array.type() != type) {  // every nonzero byte is true
    Array out(type, std::move(dims));
    const Array bytes = AsType(array, ElementType::kU8, ToDims(out.dims()));
    auto to = out.Mutable<uint8_t>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = bytes.As<uint8_t>()[i] != 0 ? 1 : 0;
    return out;
  }
  if (BitcastBits(type) == BitcastBits(array.type())) return array.WithType(type).WithDims(std::move(dims));
  if (BitcastBits(type) >= 8 && BitcastBits(array.type()) >= 8) {
    Array source = array;
    const auto* data = std::as_const(source).data();
    Array out(type, std::move(dims));
    if (out.bytes() != 0) std::memcpy(out.mutable_data(), data, static_cast<size_t>(out.bytes()));
    return out;
  }
  // Elements narrower than a byte take a whole byte each, so bits are copied one by one.
  Array out = Array::Zeros(type, AsInts(dims));
  const int from_bits = BitcastBits(array.type()), to_bits = BitcastBits(type);
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

}  // namespace shoal::internal
