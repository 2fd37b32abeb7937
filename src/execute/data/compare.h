// Compares arrays within error bounds.
#pragma once

#include <optional>
#include <string>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// An element exceeds the bounds if its difference exceeds both the absolute and the relative bound. By default,
// integers and booleans must be equal. Floats may differ by a few rounding errors of the narrower type, relative to the
// element, or by a hundredth of that, relative to the largest element.
struct ErrorBounds {
  std::optional<double> abs, rel;
  double expected_error = 0;  // of the values, relative to the largest element; widens the default bounds
};

struct Difference {
  int64_t elements = 0;
  int64_t num_exceeding = 0;               // number of elements that exceed the bounds
  double max_abs = 0, max_rel = 0;  // maxima over all elements; infinite if a difference is not finite
  int64_t at = -1;  // the first element that exceeds the bounds, else that with max_abs; -1: none
  double abs_bound = 0, rel_bound = 0;  // the bounds applied
  double error = 0;                     // max_abs relative to the largest element
  double expected_error = 0;            // as in ErrorBounds
};

// The arrays must have equal dimensions; their types may differ.
Difference CompareArrays(const Array& a, const Array& b, const ErrorBounds& bounds);

// The index of an element as text, "{1,2}", and its value as text.
std::string IndexText(int64_t element, Ints dims);
std::string ElementText(const Array& array, int64_t element);

// True if type, dimensions and all bits are identical.
bool AreBitIdentical(const Array& a, const Array& b);

}  // namespace shoal::internal
