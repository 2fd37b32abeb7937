// The loops of a scatter: windows of updates folded into an array at places that are data. Updates of one element come
// in their order whoever does them, so that any number of threads gives the same bits; only f32, f64 and whole sums of
// many elements into few are cut, by their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/thread_pool.h"
#include "core/ir/element_type.h"
#include "kernels/algorithms/scatter_combine.h"

namespace shoal::internal {

// Whether elements of this type can be folded so.
bool HasFold(Combiner fold, ElementType type);

// Updates lie as [outer offset, window, inner offset, element of a run].
struct ScatterPlan {
  std::span<const int64_t> starts;        // of the windows in the array; what is not inside is left out
  std::span<const int64_t> outer, inner;  // offsets, from the start
  int64_t length = 1;                     // of a run
  int64_t count = 0;                      // elements of the array
  bool windows_disjoint = false;                 // two windows are the same or have no element in common
  int64_t window() const { return length * static_cast<int64_t>(inner.size()); }
};

// The same of single elements, at places that are as the module has them.
void FoldElementsAt(Combiner fold, ElementType type, std::span<const int32_t> places, int64_t count, const std::byte* updates,
                    std::byte* array, ThreadPool& pool);
// Each element of the array that an update falls on becomes fold(element, update).
void FoldUpdates(Combiner fold, ElementType type, const ScatterPlan& plan, const std::byte* updates, std::byte* array,
                 ThreadPool& pool);

}  // namespace shoal::internal
