// How far two arrays are apart.
#pragma once

#include <optional>
#include <string>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// An element is beyond the bounds if it is beyond both of them. Those not given depend on the types: integers and
// booleans must be equal; floats may differ by a few roundings of the narrower type, relative to themselves or, by a
// hundredth of that, to the largest element.
struct ErrorBounds {
  std::optional<double> abs, rel;
};

struct Difference {
  int64_t elements = 0;
  int64_t beyond = 0;               // elements beyond the bounds
  double max_abs = 0, max_rel = 0;  // over all elements; infinite where one of the two is no number
  int64_t at = -1;                  // the worst element: the first beyond the bounds, else the one of max_abs; -1: none
  double abs_bound = 0, rel_bound = 0;  // that were applied
};

// Of arrays with the same dimensions; their types may differ.
Difference CompareArrays(const Array& a, const Array& b, const ErrorBounds& bounds);

// "{1,2}" and the element there as text.
std::string IndexText(int64_t element, Ints dims);
std::string ElementText(const Array& array, int64_t element);

// Same type, dimensions and bits.
bool AreBitIdentical(const Array& a, const Array& b);

}  // namespace shoal::internal
