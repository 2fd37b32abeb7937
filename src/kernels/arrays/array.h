// Array: an array value in memory. Elements are row-major, regardless of the layout in the module text, and take
// StorageBytes(type) each, so types narrower than a byte take a whole byte. Dimensions are the current sizes: an array
// of shape f32[<=8] may have 5 elements.
#pragma once

#include <span>
#include <string>

#include "absl/container/inlined_vector.h"
#include "core/ir/literal.h"
#include "core/ir/shape.h"
#include "kernels/arrays/buffer.h"

namespace shoal::internal {

using Dims = absl::InlinedVector<int64_t, 6>;

inline Dims ToDims(Ints ints) { return Dims(ints.begin(), ints.end()); }
inline Ints AsInts(const Dims& dims) { return Ints(dims.data(), dims.size()); }
// Product of the sizes. Throws std::bad_alloc if an array cannot be that large.
int64_t ElementCount(Ints dims);
// Row-major strides: for each dimension, the number of elements from one index to the next.
Dims RowMajorStrides(Ints dims);

class Array {
 public:
  Array() = default;
  // Uninitialised. Throws std::bad_alloc.
  Array(ElementType type, Dims dims);
  Array(ElementType type, Ints dims) : Array(type, ToDims(dims)) {}
  // Uses the bytes of `data`. Throws std::length_error if there are too few.
  Array(ElementType type, Dims dims, Buffer data);

  // An array of zeros.
  static Array Zeros(ElementType type, Ints dims);
  // A scalar with the bytes of `value`.
  template <class T>
  static Array Scalar(ElementType type, T value);
  // Borrows the literal's bytes if the literal is complete. `owner` keeps the module alive; null: the caller does.
  static Array FromLiteral(const Literal& literal, const std::shared_ptr<const void>& owner = nullptr);

  ElementType type() const { return type_; }
  Ints dims() const { return AsInts(dims_); }
  int64_t dim(int64_t i) const { return dims_[static_cast<size_t>(i)]; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t count() const { return count_; }
  int element_bytes() const { return StorageBytes(type_); }
  int64_t bytes() const { return count_ * element_bytes(); }

  const std::byte* data() const { return data_.data(); }
  // The bytes for writing; copies them first if the buffer is shared.
  std::byte* mutable_data();
  // True if the buffer has no other owner and is not frozen.
  bool unique() const { return data_.unique(); }

  // See Buffer.
  void ChargeTo(MemoryMeter* meter) { data_.ChargeTo(meter); }
  void Freeze() { data_.Freeze(); }

  // T must be as wide as an element: bool for pred, std::complex for complex types, uintN_t for any type of N bits.
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<T> Mutable() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(count_)};
  }

  // The elements with other dimensions, or as another type of equal width.
  Array WithDims(Dims dims) const { return Array(type_, std::move(dims), data_); }
  Array WithType(ElementType type) const { return Array(type, dims_, data_); }
  // The bytes as elements of another width.
  Array Reinterpreted(ElementType type, Dims dims) const { return Array(type, std::move(dims), data_); }

 private:
  ElementType type_ = ElementType::kInvalid;
  Dims dims_;
  int64_t count_ = 0;
  Buffer data_;
};

template <class T>
Array Array::Scalar(ElementType type, T value) {
  Array scalar(type, Dims{});
  scalar.Mutable<T>()[0] = value;
  return scalar;
}

// Element i of an integer or pred array; unsigned values above INT64_MAX wrap.
int64_t IntAt(const Array& array, int64_t i);
// Element i of any array as a number; for complex types, the real part.
double NumberAt(const Array& array, int64_t i);

// f32[2,3]
std::string ToString(const Array& array);

}  // namespace shoal::internal
