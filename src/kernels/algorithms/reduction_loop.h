// ReductionLoop: the reductions that have a loop of their own: sums, products, extremes and bitwise functions of numbers.
// Sums of f32 and wider are accumulated in f64 and rounded once; those of f16 and bf16 are rounded at every step, as
// XLA has them, in the order of the walk. Minimum and maximum of floats are nan if any element is.
#pragma once

#include <optional>

#include "core/ops/opcode.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

class ReductionLoop {
 public:
  // Nothing if there is no such loop; then the function must be run as it is written.
  static std::optional<ReductionLoop> Of(Opcode op, ElementType type);

  Opcode op() const { return op_; }
  // The result depends on the order of the elements, beyond what rounding f32 does.
  bool ordered() const { return rounds_; }
  // Taking in `init` once more changes nothing.
  bool IsNeutral(const Array& init) const;

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

  Opcode op_{};
  ElementType type_ = ElementType::kInvalid, element_ = ElementType::kInvalid, accumulator_ = ElementType::kInvalid;
  enum class Neutral : uint8_t { kAny, kZero, kOne };
  Neutral neutral_ = Neutral::kAny;
  bool rounds_ = false;
  Loops loops_ = nullptr;
  Scatter scatter_ = nullptr;
};

}  // namespace shoal::internal
