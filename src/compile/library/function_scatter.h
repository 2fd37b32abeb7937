// The loops of a scatter by any function of scalars, with several operands: compiled code applies the function to blocks
// of lanes. The updates of one element are combined in order, so the result does not depend on the number of threads.
#pragma once

#include <span>

#include "core/base/thread_pool.h"
#include "kernels/algorithms/parallel_scatter.h"
#include "kernels/arrays/array.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

// Replaces elements of arrays[k] by result k of `function`(elements of all arrays, updates). The updates have the order
// that ScatterPlan describes. `function` is the code of a LaneKernelOf.
void ScatterByFunction(const ScatterPlan& plan, std::span<const Array> updates, std::span<Array> arrays, KernelCode function,
                       ThreadPool& pool);

}  // namespace shoal::internal
