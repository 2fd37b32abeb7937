// A stable sort whose comparisons are done many at a time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

// before[i] = whether element a[i] comes before element b[i], for i < n. Elements are known by their numbers.
using CompareLanes = std::function<Status(const int64_t* a, const int64_t* b, uint8_t* before, int64_t n)>;

// Numbers of the elements of `rows` rows of `row` elements each, [r * row, (r + 1) * row), in order within each row.
// Where the comparison contradicts itself the result is some order of the same numbers.
Result<std::vector<int64_t>> MergeSorted(int64_t rows, int64_t row, const CompareLanes& compare);

}  // namespace shoal::internal
