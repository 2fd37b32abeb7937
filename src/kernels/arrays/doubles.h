// Conversion of float and complex arrays of any type to doubles and back, for arithmetic that rounds once at its end.
#pragma once

#include <complex>
#include <vector>

#include "kernels/arrays/array.h"

namespace shoal::internal {

std::vector<double> ToDoubles(const Array& array);
Array FromDoubles(ElementType type, Ints dims, const std::vector<double>& numbers);

// Number is double for floats or std::complex<double> for complex types.
template <class Number>
std::vector<Number> ToNumbers(const Array& array);
template <class Number>
Array FromNumbers(ElementType type, Ints dims, const std::vector<Number>& numbers);

}  // namespace shoal::internal
