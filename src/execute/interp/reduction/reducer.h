// Reducer: the function (accumulators…, elements…) -> accumulators of reduce, reduce-window, scatter and
// select-and-scatter. Also functions that these ops share.
#pragma once

#include <optional>

#include "execute/interp/device.h"
#include "kernels/algorithms/reduction_loop.h"

namespace shoal::internal {

struct Reducer {
  // kReduction folds many elements into few. With wide numerics, its accumulators are wider than their declared types.
  enum class Role : uint8_t { kReduction, kUpdate };
  Reducer(const Call& call, const Computation& computation, Role role = Role::kUpdate);

  const Instruction& hlo;
  const Computation& computation;
  Device& device;
  std::vector<ElementType> types;     // types of the accumulators and elements, from the first parameters
  std::optional<ReductionLoop> loop;  // set if there is a specialized loop

  size_t count() const { return types.size(); }

  // Computes accumulators[k][i] = result k for lane i. Reads and writes the accumulators.
  Status Step(std::span<Array> accumulators, std::span<const std::byte* const> elements, int64_t n);

 private:
  std::vector<Array> results_;  // written while the accumulators are read; then both are swapped
};

// Returns operands [first, first + types.size()), converted if the function declares other float types.
std::vector<Array> OperandsAs(const Call& call, size_t first, std::span<const ElementType> types);

// The value of an instruction that returns an array or a tuple of arrays, converted to the declared types.
Value ResultOf(const Instruction& hlo, std::vector<Array> arrays);

Array Filled(const Array& scalar, Dims dims);

}  // namespace shoal::internal
