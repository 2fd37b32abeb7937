// Shapes of GEMMs, convolutions and attention, from instructions and library calls.
#pragma once

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/kernel_config.h"

namespace shoal::internal {

// All of these return nothing if the instruction does not specify its dimensions.
std::optional<GemmShape> GemmOf(const Instruction& dot);
// A library call with dot_dimension_numbers in its backend_config.
std::optional<GemmShape> GemmOfCall(const Instruction& call, const ConfigJson& config);
// A call that is one GEMM with unspecified dimensions; the sizes of its operands and result determine them.
std::optional<GemmShape> GemmOfSizes(const Instruction& call);
std::optional<ConvolutionShape> ConvolutionOf(const Instruction& hlo);
std::optional<AttentionShape> AttentionOf(const Instruction& call, const ConfigJson& config);

}  // namespace shoal::internal
