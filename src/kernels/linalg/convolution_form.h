// Convolution as HLO defines it, for the op and for library custom calls.
#pragma once

#include "core/ir/module.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

struct ConvolutionForm {
  const ConvDims& labels;
  std::span<const WindowDim> window;
  int64_t feature_groups = 1, batch_groups = 1;
};

// True if the labels name each dimension of arrays of this rank once. The labels of a custom call are not verified.
bool HasDistinctDims(const ConvDims& labels, int64_t rank);

// Checks that the features and groups of input and kernel are compatible. Only dynamic sizes can be incompatible.
Status CheckSizes(const Instruction& hlo, const Array& input, const Array& kernel, const ConvolutionForm& form);

// The convolution, summed like DotGeneral and rounded once. The window has the sizes of the kernel; the sizes of the
// result follow from the actual sizes of the arrays.
Array Convolved(const Array& input, const Array& kernel, const ConvolutionForm& form, ElementType result);

}  // namespace shoal::internal
