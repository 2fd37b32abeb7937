// How the calls of custom_calls.def are priced: from their shapes, attributes and backend_config. Each gives nothing
// where these do not say enough.
#pragma once

#include "core/ops/custom_calls.h"

namespace shoal {

// An estimate that the call carries: {"cost_estimate":{"flops":…,"transcendentals":…,"bytes_accessed":…}}.
std::optional<CallPrice> EstimatePrice(const Instruction& hlo);
// It only moves its operands.
std::optional<CallPrice> MovesPrice(const Instruction& hlo);
// One operation for each element of the result: activations, quantisation.
std::optional<CallPrice> PerElementPrice(const Instruction& hlo);
// For each element of operand 0: maximum, difference, exponential, sum, quotient.
std::optional<CallPrice> SoftmaxPrice(const Instruction& hlo);
// For each element of operand 0: mean, difference, square, its mean, product, scale, bias.
std::optional<CallPrice> NormPrice(const Instruction& hlo);
// As an HLO sort of its operands.
std::optional<CallPrice> SortPrice(const Instruction& hlo);

std::optional<CallPrice> ProductPrice(const Instruction& hlo);
std::optional<CallPrice> GroupedProductPrice(const Instruction& hlo);
std::optional<CallPrice> BlockScaledProductPrice(const Instruction& hlo);
// lhs and rhs with contracting dimensions in backend_config as TransformerEngine names them.
std::optional<CallPrice> TransformerEngineProductPrice(const Instruction& hlo);
std::optional<CallPrice> ConvolutionPrice(const Instruction& hlo);
std::optional<CallPrice> AttentionPrice(const Instruction& hlo);

// As LAPACK counts, of the matrices in the last two dimensions of operand 0.
std::optional<CallPrice> CholeskyPrice(const Instruction& hlo);
std::optional<CallPrice> LuPrice(const Instruction& hlo);
std::optional<CallPrice> QrPrice(const Instruction& hlo);
std::optional<CallPrice> TriangularSolvePrice(const Instruction& hlo);

}  // namespace shoal
