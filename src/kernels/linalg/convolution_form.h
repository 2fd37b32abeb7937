// Convolution as HLO has it, for the op and for the libraries' calls.
#pragma once

#include "core/ir/module.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

struct ConvolutionForm {
  const ConvDims& labels;
  std::span<const WindowDim> window;
  int64_t feature_groups = 1, batch_groups = 1;
};

// Whether the labels name each dimension of arrays of this rank once; nobody has checked those of a custom call.
bool NamesEachOnce(const ConvDims& labels, int64_t rank);

// The features and groups of the two fit, which only dynamic sizes can spoil.
Status CheckSizes(const Instruction& hlo, const Array& input, const Array& kernel, const ConvolutionForm& form);

// Summed as Product has it, rounded once. The window's sizes are the kernel's; sizes of the result follow from those
// the arrays have.
Array Convolved(const Array& input, const Array& kernel, const ConvolutionForm& form, ElementType result);

}  // namespace shoal::internal
