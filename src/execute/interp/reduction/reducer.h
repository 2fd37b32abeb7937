// Reducer: the function (accumulators…, elements…) -> accumulators that reduce, reduce-window, scatter and
// select-and-scatter apply, and what they share about it.
#pragma once

#include <optional>

#include "execute/interp/device.h"
#include "kernels/algorithms/reduction_loop.h"

namespace shoal::internal {

struct Reducer {
  // kSums: folds many elements into few, in accumulators that wide numerics have wider than is written.
  enum class Of : uint8_t { kSums, kUpdates };
  Reducer(const Call& call, const Computation& computation, Of what = Of::kUpdates);

  const Instruction& hlo;
  const Computation& computation;
  Device& device;
  std::vector<ElementType> types;     // of the accumulators, and so of the elements: those of the first parameters
  std::optional<ReductionLoop> loop;  // where one accumulator has a loop of its own

  size_t count() const { return types.size(); }

  // accumulators[k][i] = result k for lane i. The accumulators are given and taken.
  Status Step(std::span<Array> accumulators, std::span<const std::byte* const> elements, int64_t n);

 private:
  std::vector<Array> results_;  // written while the accumulators are read; then they change places
};

// Operands [first, first + types.size()), converted where the function wants floats of another precision.
std::vector<Array> OperandsAs(const Call& call, size_t first, std::span<const ElementType> types);

// The value of an instruction that gives one array or a tuple of them, in the types its shape declares.
Value ResultOf(const Instruction& hlo, std::vector<Array> arrays);

// A new array full of the scalar's value.
Array Filled(const Array& scalar, Dims dims);

}  // namespace shoal::internal
