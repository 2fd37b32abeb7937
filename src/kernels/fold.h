// Fold: the reductions that have a loop of their own: sums, products, extremes and bitwise functions of numbers.
// Sums of floats are accumulated in f64 and rounded once; everything else in the type itself or, for floats narrower
// than f32, in f32. Minimum and maximum of floats are nan if any element is.
#pragma once

#include <optional>

#include "kernels/strided.h"
#include "ops/opcode.h"

namespace shoal {

class Fold {
 public:
  // Nothing if there is no such loop; then the function must be run as it is written.
  static std::optional<Fold> Of(Opcode op, ElementType type);

  // Accumulators that hold the scalar `init`.
  Array Start(const Array& init, Dims dims) const;
  // Elements of the type, as Accumulate wants them.
  Array Elements(const Array& array) const;
  // For every index in `sizes`: the accumulator at its place takes in the element at its.
  void Accumulate(Ints sizes, Array& accumulators, const Strided& to, const Array& elements, const Strided& from) const;
  // The accumulators in the type.
  Array Finish(const Array& accumulators) const;

  // array[places[i]] = op(array[places[i]], elements[i]), one after the other, each rounded; null for narrow floats.
  using Scatter = void (*)(std::byte* array, const int64_t* places, const std::byte* elements, int64_t n);
  Scatter scatter() const { return scatter_; }

 private:
  using Loops = void (*)(std::span<const StridedLoop> loops, std::byte* accumulators, const std::byte* elements);
  friend struct FoldRows;

  ElementType type_ = ElementType::kInvalid, element_ = ElementType::kInvalid, accumulator_ = ElementType::kInvalid;
  Loops loops_ = nullptr;
  Scatter scatter_ = nullptr;
};

}  // namespace shoal
