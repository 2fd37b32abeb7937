// ReductionLoop: dedicated loops for common reductions: sum, product, minimum, maximum and bitwise ops. Sums of f32 and
// wider types are accumulated in f64 and rounded once. Sums of f16 and bf16 are rounded at every step, as in XLA, in
// the order of the loops. Minimum and maximum of floats are NaN if any element is NaN.
#pragma once

#include <optional>

#include "core/ops/opcode.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

class ReductionLoop {
 public:
  // Nothing if there is no loop for this op and type; the caller must then evaluate the reducer itself.
  static std::optional<ReductionLoop> Of(Opcode op, ElementType type);

  Opcode op() const { return op_; }
  // True if the result depends on the order of the elements by more than the rounding of f32.
  bool ordered() const { return rounds_each_step_; }
  // True if combining with `init` once more changes nothing.
  bool IsIdentityElement(const Array& init) const;

  // Accumulators that are all set to the scalar `init`.
  Array Start(const Array& init, Dims dims) const;
  // The elements of `array` in the form that Accumulate takes.
  Array Elements(const Array& array) const;
  // For every index within `sizes`, combines the element of `elements` with the accumulator.
  void Accumulate(Ints sizes, Array& accumulators, const Strided& to, const Array& elements, const Strided& from) const;
  // The accumulators converted to the element type.
  Array Finish(const Array& accumulators) const;

  // array[indices[i]] = op(array[indices[i]], elements[i]), in order, each rounded; null for narrow floats.
  using Scatter = void (*)(std::byte* array, const int64_t* indices, const std::byte* elements, int64_t n);
  Scatter scatter() const { return scatter_; }

 private:
  using Loops = void (*)(std::span<const StridedLoop> loops, std::byte* accumulators, const std::byte* elements);
  friend struct LoopSelector;

  Opcode op_{};
  ElementType type_ = ElementType::kInvalid, element_ = ElementType::kInvalid, accumulator_ = ElementType::kInvalid;
  enum class Neutral : uint8_t { kAny, kZero, kOne };
  Neutral neutral_ = Neutral::kAny;
  bool rounds_each_step_ = false;
  Loops loops_ = nullptr;
  Scatter scatter_ = nullptr;
};

}  // namespace shoal::internal
