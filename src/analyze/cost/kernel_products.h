// Shapes of matrix products, convolutions and attention, as instructions and library calls write them.
#pragma once

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/kernel_config.h"

namespace shoal::internal {

std::optional<GemmShape> GemmOf(const Instruction& dot);
// A library call with dot_dimension_numbers in its backend_config.
std::optional<GemmShape> GemmOfCall(const Instruction& call, const ConfigJson& config);
// A call that is one product, of whatever dimensions: how much is summed follows from the sizes.
std::optional<GemmShape> GemmOfSizes(const Instruction& call);
// Nothing if it does not say its dimensions.
std::optional<ConvolutionShape> ConvolutionOf(const Instruction& hlo);
std::optional<AttentionShape> AttentionOf(const Instruction& call, const ConfigJson& config);

}  // namespace shoal::internal
