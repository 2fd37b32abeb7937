// The loops of a scatter, which combine windows of updates with an array at data-dependent indices. The result has the
// same bits for any number of threads: the updates of one element are combined in order, and sums of many f32, f64 or
// integer elements into few are split only by the number of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/thread_pool.h"
#include "core/ir/element_type.h"
#include "kernels/algorithms/scatter_combine.h"

namespace shoal::internal {

// True if the functions below support this combiner for elements of this type.
bool SupportsScatter(Combiner fold, ElementType type);

// The updates have the dimensions [outer offset, window, inner offset, element of a run].
struct ScatterPlan {
  std::span<const int64_t> starts;        // start of each window in the array; windows out of bounds are skipped
  std::span<const int64_t> outer, inner;  // offsets relative to the start
  int64_t length = 1;                     // elements of a run
  int64_t count = 0;                      // elements of the array
  bool windows_disjoint = false;          // any two windows are identical or disjoint
  int64_t window() const { return length * static_cast<int64_t>(inner.size()); }
};

// Like ScatterUpdates, for single elements. `indices` need not be checked: those out of bounds are skipped.
void ScatterElementsAt(Combiner fold, ElementType type, std::span<const int32_t> indices, int64_t count, const std::byte* updates,
                    std::byte* array, ThreadPool& pool);
// Replaces each element of the array that has an update with fold(element, update).
void ScatterUpdates(Combiner fold, ElementType type, const ScatterPlan& plan, const std::byte* updates, std::byte* array,
                 ThreadPool& pool);

}  // namespace shoal::internal
