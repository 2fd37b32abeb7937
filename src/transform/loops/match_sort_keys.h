// The comparators that a sort by keys can replace: comparisons of the elements of one operand, and lexicographic chains
// of them.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct SortKey {
  size_t operand = 0;
  bool descending = false;
  bool nans_last = false;  // zeros are equal, and NaNs are equal and come last; otherwise the total order of floats
  bool operator==(const SortKey&) const = default;
};

// The keys of a comparator, most significant first: of one comparison, of "a.k < b.k || (a.k == b.k && …)", or of
// "a.k == b.k ? … : a.k < b.k". Floats may be canonicalized by selects (-0 to 0, NaNs to one NaN). No value for other
// comparators.
std::optional<std::vector<SortKey>> MatchSortKeys(const Computation& comparator);

}  // namespace shoal::internal
