// Shapes of GEMMs, convolutions and attention, from instructions and library calls.
#pragma once

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/kernel_config.h"

namespace shoal::internal {

// These functions return nullopt if the dimensions of the instruction cannot be determined.
std::optional<GemmShape> GemmOf(const Instruction& dot);
// For a library call with dot_dimension_numbers in the backend_config.
std::optional<GemmShape> GemmOfCall(const Instruction& call, const ConfigJson& config);
// For a call that is one GEMM without dimension numbers. Derives m, n and k from the sizes of operands and result.
std::optional<GemmShape> GemmOfSizes(const Instruction& call);
std::optional<ConvolutionShape> ConvolutionOf(const Instruction& hlo);
std::optional<AttentionShape> AttentionOf(const Instruction& call, const ConfigJson& config);

}  // namespace shoal::internal
