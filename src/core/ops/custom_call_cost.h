// How the calls of custom_calls.def are priced: from their shapes, attributes and backend_config. Each gives nothing
// where these do not say enough.
#pragma once

#include "core/ops/custom_calls.h"

namespace shoal::internal {

// An estimate that the call carries: {"cost_estimate":{"flops":…,"transcendentals":…,"bytes_accessed":…}}.
std::optional<CallCost> EstimateCost(const Instruction& hlo);
// It only moves its operands.
std::optional<CallCost> MovesCost(const Instruction& hlo);
// One operation for each element of the result: activations, quantisation.
std::optional<CallCost> PerElementCost(const Instruction& hlo);
// For each element of operand 0: maximum, difference, exponential, sum, quotient.
std::optional<CallCost> SoftmaxCost(const Instruction& hlo);
// For each element of operand 0: mean, difference, square, its mean, product, scale, bias.
std::optional<CallCost> NormCost(const Instruction& hlo);
// As an HLO sort of its operands.
std::optional<CallCost> SortCost(const Instruction& hlo);

std::optional<CallCost> GemmCost(const Instruction& hlo);
std::optional<CallCost> GroupedGemmCost(const Instruction& hlo);
std::optional<CallCost> BlockScaledDotCost(const Instruction& hlo);
// lhs and rhs with contracting dimensions in backend_config as TransformerEngine names them.
std::optional<CallCost> TransformerEngineGemmCost(const Instruction& hlo);
std::optional<CallCost> ConvolutionCost(const Instruction& hlo);
std::optional<CallCost> AttentionCost(const Instruction& hlo);

// As LAPACK counts, of the matrices in the last two dimensions of operand 0.
std::optional<CallCost> CholeskyCost(const Instruction& hlo);
std::optional<CallCost> LuCost(const Instruction& hlo);
std::optional<CallCost> QrCost(const Instruction& hlo);
std::optional<CallCost> TriangularSolveCost(const Instruction& hlo);

}  // namespace shoal::internal
