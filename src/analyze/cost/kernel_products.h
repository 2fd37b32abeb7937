// Shapes of matrix products, convolutions and attention, as instructions and library calls write them.
#pragma once

#include "analyze/cost/device_kernel.h"
#include "analyze/cost/kernel_config.h"

namespace shoal {

std::optional<ProductShape> ProductOf(const Instruction& dot);
// A library call with dot_dimension_numbers in its backend_config.
std::optional<ProductShape> ProductOfCall(const Instruction& call, const ConfigJson& config);
// A call that is one product, of whatever dimensions: how much is summed follows from the sizes.
std::optional<ProductShape> ProductOfSizes(const Instruction& call);
// Nothing if it does not say its dimensions.
std::optional<ConvolutionShape> ConvolutionOf(const Instruction& hlo);
std::optional<AttentionShape> AttentionOf(const Instruction& call, const ConfigJson& config);

}  // namespace shoal
