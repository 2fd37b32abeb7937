// Array: a value in memory, the elements in row-major order of its dimensions whatever the layout in the text says;
// StorageBytes(type) each, so types narrower than a byte take one. Dimensions are the ones the array has now: where a
// shape says f32[<=8], the array has what there is.
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
// Product of the sizes. Throws std::bad_alloc if nothing can be so large.
int64_t ElementCount(Ints dims);
// Elements from one index of each dimension to the next, row-major.
Dims RowMajorStrides(Ints dims);

class Array {
 public:
  Array() = default;
  // Uninitialised. Throws std::bad_alloc.
  Array(ElementType type, Dims dims);
  Array(ElementType type, Ints dims) : Array(type, ToDims(dims)) {}
  // Of bytes that are there already. Throws std::length_error if they are not enough.
  Array(ElementType type, Dims dims, Buffer data);

  // Every element zero.
  static Array Zeros(ElementType type, Ints dims);
  // A scalar with the given bytes.
  template <class T>
  static Array Scalar(ElementType type, T value);
  // Shares the literal's bytes where it has them all; the module must live on.
  static Array FromLiteral(const Literal& literal);

  ElementType type() const { return type_; }
  Ints dims() const { return AsInts(dims_); }
  int64_t dim(int64_t i) const { return dims_[static_cast<size_t>(i)]; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t count() const { return count_; }
  int element_bytes() const { return StorageBytes(type_); }
  int64_t bytes() const { return count_ * element_bytes(); }

  const std::byte* data() const { return data_.data(); }
  // Bytes to write to; copies them first if somebody else holds them too.
  std::byte* mutable_data();
  // The buffer is ours alone.
  bool unique() const { return data_.unique(); }

  // See Buffer.
  void ChargeTo(MemoryMeter* meter) { data_.ChargeTo(meter); }
  void Freeze() { data_.Freeze(); }

  // T must be as wide as an element. bool for pred; std::complex for complex; uintN_t for any type of N bits.
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<T> Mutable() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(count_)};
  }

  // The same elements under other dimensions or another type of the same width.
  Array WithDims(Dims dims) const { return Array(type_, std::move(dims), data_); }
  Array WithType(ElementType type) const { return Array(type, dims_, data_); }
  // The same bytes as elements of another width.
  Array SeenAs(ElementType type, Dims dims) const { return Array(type, std::move(dims), data_); }

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

// An integer or pred element as a number; unsigned values beyond int64 wrap.
int64_t IntAt(const Array& array, int64_t i);
// A float (or the real part of a complex) element as a number; integers too.
double NumberAt(const Array& array, int64_t i);

// f32[2,3]
std::string ToString(const Array& array);

}  // namespace shoal::internal
