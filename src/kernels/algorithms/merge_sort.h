// A stable merge sort that evaluates many comparisons per call.
#pragma once

#include <functional>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

// Sets before[i] to 1 if element a[i] comes before element b[i], else to 0, for i < n. Elements are given by index.
using CompareLanes = std::function<Status(const int64_t* a, const int64_t* b, uint8_t* before, int64_t n)>;

// Sorts `rows` rows of `row` elements each. Returns element indices in sorted order within each row; row r has the
// indices [r * row, (r + 1) * row). If the comparison is inconsistent, the result is some permutation of these indices.
Result<std::vector<int64_t>> MergeSorted(int64_t rows, int64_t row, const CompareLanes& compare);

}  // namespace shoal::internal
