// Attributes the kernels of a profile to instructions by their order: a device runs the kernels of a step in the order of
// the schedule. This also finds the instructions of kernels whose names do not identify them, such as library kernels.
#pragma once

#include <optional>

#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// The kernels of one step in launch order, with every iteration of every loop.
std::vector<const OpTime*> LaunchOrder(const SimulatedStep& prediction);

// An event as the alignment sees it.
struct MeasuredKernel {
  double seconds = 0;
  size_t group = SIZE_MAX;  // the group of equal kernels that the name identifies; SIZE_MAX: none
  bool is_copy = false;     // the name is that of a copy or a memset by the driver
};
// An op of the schedule.
struct ExpectedKernel {
  double seconds = 0;  // predicted, of one execution
  size_t group = 0;
  bool is_copy = false, is_library = false;
};

// The index in `expected` for each kernel of one step, in order; SIZE_MAX: none. Consecutive kernels can have the same
// index, because an op may launch several. No value if the two sequences are too long to align.
std::optional<std::vector<size_t>> AlignStep(std::span<const MeasuredKernel> launched, std::span<const ExpectedKernel> expected);

}  // namespace shoal::internal
