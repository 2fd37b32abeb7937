#include "kernels/arrays/array.h"

#include <cstring>
#include <new>
#include <stdexcept>

#include "core/base/strings.h"
#include "kernels/arrays/floats.h"

namespace shoal::internal {

int64_t ElementCount(Ints dims) {
  constexpr int64_t kMax = int64_t{1} << 58;  // elements; their size in bytes fits in int64_t
  int64_t count = 1;
  bool overflows = false, is_empty = false;
  for (int64_t size : dims) {
    is_empty |= size == 0;
    overflows |= size < 0 || __builtin_mul_overflow(count, size, &count) || count > kMax;
  }
  if (is_empty) return 0;
  if (overflows) throw std::bad_alloc();
  return count;
}

Dims RowMajorStrides(Ints dims) {
  Dims strides(dims.size());
  uint64_t stride = 1;  // may overflow for an array without elements, whose strides are unused
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[d]);
  }
  return strides;
}

Array::Array(ElementType type, Dims dims) : type_(type), dims_(std::move(dims)), count_(ElementCount(AsInts(dims_))) {
  data_ = Buffer::Allocate(static_cast<size_t>(bytes()));
}

Array::Array(ElementType type, Dims dims, Buffer data)
    : type_(type), dims_(std::move(dims)), count_(ElementCount(AsInts(dims_))), data_(std::move(data)) {
  if (static_cast<size_t>(bytes()) > data_.size())
    throw std::length_error(StrCat("a buffer of ", data_.size(), " bytes is too small for ", ToString(*this)));
}

Array Array::Zeros(ElementType type, Ints dims) {
  Array zeros(type, dims);
  std::memset(zeros.mutable_data(), 0, static_cast<size_t>(zeros.bytes()));
  return zeros;
}

Array Array::FromLiteral(const Literal& literal, const std::shared_ptr<const void>& owner) {
  const ElementType type = literal.shape->element_type();
  Dims dims = ToDims(literal.shape->dims());
  const auto bytes = static_cast<size_t>(ElementCount(AsInts(dims)) * StorageBytes(type));
  if (literal.data.size() == bytes) {
    const std::byte* data = literal.data.data();
    return Array(type, std::move(dims), owner == nullptr ? Buffer::Borrow(data, bytes) : Buffer::Share(data, bytes, owner));
  }
  Array whole = Zeros(type, AsInts(dims));
  if (!literal.data.empty()) std::memcpy(whole.mutable_data(), literal.data.data(), literal.data.size());
  return whole;
}

std::byte* Array::mutable_data() {
  if (!data_.unique()) {
    Buffer copy = Buffer::Allocate(static_cast<size_t>(bytes()));
    if (bytes() != 0) std::memcpy(copy.mutable_data(), data_.data(), static_cast<size_t>(bytes()));
    data_ = std::move(copy);
  }
  return data_.mutable_data();
}

int64_t IntAt(const Array& array, int64_t i) {
  const auto at = static_cast<size_t>(i);
  const bool is_signed = IsSigned(array.type());
  switch (array.element_bytes()) {
    case 1:
      return is_signed ? array.As<int8_t>()[at] : array.As<uint8_t>()[at];
    case 2:
      return is_signed ? array.As<int16_t>()[at] : array.As<uint16_t>()[at];
    case 4:
      if (is_signed) return array.As<int32_t>()[at];  // ?: would convert both to unsigned
      return array.As<uint32_t>()[at];
    default:
      return array.As<int64_t>()[at];
  }
}

double NumberAt(const Array& array, int64_t i) {
  const auto at = static_cast<size_t>(i);
  if (array.type() == ElementType::kU64) return static_cast<double>(array.As<uint64_t>()[at]);
  if (array.type() == ElementType::kF64) return array.As<double>()[at];
  if (array.type() == ElementType::kC64) return array.As<float>().data()[2 * i];
  if (array.type() == ElementType::kC128) return array.As<double>().data()[2 * i];
  if (!IsFloat(array.type())) return static_cast<double>(IntAt(array, i));
  float number = 0;
  DecodeFloats(array.type(), array.data() + i * array.element_bytes(), &number, 1);
  return number;
}

std::string ToString(const Array& array) { return StrCat(Text(array.type()), "[", StrJoin(array.dims(), ","), "]"); }

}  // namespace shoal::internal
