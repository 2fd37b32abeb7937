// The cost functions of custom_calls.def. They use shapes, attributes and backend_config, and return no value if these
// are not sufficient.
#pragma once

#include "core/ops/custom_calls.h"

namespace shoal::internal {

// The estimate in the backend_config of the call: {"cost_estimate":{"flops":…,"transcendentals":…,"bytes_accessed":…}}.
std::optional<CallCost> EstimateCost(const Instruction& hlo);
// The cost of a call that only moves its operands.
std::optional<CallCost> MovesCost(const Instruction& hlo);
// Counts one operation for each element of the result: activations, quantisation.
std::optional<CallCost> PerElementCost(const Instruction& hlo);
// Counts for each element of operand 0: maximum, difference, exponential, sum, quotient.
std::optional<CallCost> SoftmaxCost(const Instruction& hlo);
// Counts for each element of operand 0: mean, difference, square, mean of squares, product, scale, bias.
std::optional<CallCost> NormCost(const Instruction& hlo);
// The cost of an HLO sort of the operands.
std::optional<CallCost> SortCost(const Instruction& hlo);

std::optional<CallCost> GemmCost(const Instruction& hlo);
std::optional<CallCost> GroupedGemmCost(const Instruction& hlo);
std::optional<CallCost> BlockScaledDotCost(const Instruction& hlo);
// Computed from the sizes of lhs, rhs and result; TransformerEngine's backend_config is not needed.
std::optional<CallCost> TransformerEngineGemmCost(const Instruction& hlo);
std::optional<CallCost> ConvolutionCost(const Instruction& hlo);
std::optional<CallCost> AttentionCost(const Instruction& hlo);

// LAPACK's counts for the matrices in the last two dimensions of operand 0.
std::optional<CallCost> CholeskyCost(const Instruction& hlo);
std::optional<CallCost> LuCost(const Instruction& hlo);
std::optional<CallCost> QrCost(const Instruction& hlo);
std::optional<CallCost> TriangularSolveCost(const Instruction& hlo);

}  // namespace shoal::internal
