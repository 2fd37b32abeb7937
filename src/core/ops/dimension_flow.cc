#include "core/ops/dimension_flow.h"

#include <algorithm>

#include "core/ops/families.h"

namespace shoal::internal {
namespace {

using Sources = std::vector<OperandDimension>;

// The dimensions of an operand of rank `rank` that are in neither list, in order.
std::vector<int64_t> FreeDims(int rank, Ints batch, Ints contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(batch, d) && !Contains(contracting, d)) free.push_back(d);
  return free;
}

// result[batch, lhs free, rhs free]
Sources ContractionSources(const Instruction& hlo, int64_t dimension) {
  const Ints lhs_batch = hlo[kLhsBatchDims], rhs_batch = hlo[kRhsBatchDims];
  auto d = static_cast<size_t>(dimension);
  if (d < lhs_batch.size() && d < rhs_batch.size()) return {{0, lhs_batch[d]}, {1, rhs_batch[d]}};
  d -= std::min(d, lhs_batch.size());
  const auto lhs = FreeDims(hlo.operand_shape(0).rank(), lhs_batch, hlo[kLhsContractingDims]);
  if (d < lhs.size()) return {{0, lhs[d]}};
  d -= lhs.size();
  const auto rhs = FreeDims(hlo.operand_shape(1).rank(), rhs_batch, hlo[kRhsContractingDims]);
  if (d < rhs.size()) return {{1, rhs[d]}};
  return {};
}

Sources ConvolutionSources(const Instruction& hlo, int64_t dimension) {
  const ConvDims* dims = hlo[kDimLabels];
  if (dims == nullptr) return {};
  if (dimension == dims->output_batch) return {{0, dims->input_batch}};
  if (dimension == dims->output_feature) return {{1, dims->kernel_output_feature}};
  for (size_t i = 0; i < dims->output_spatial.size() && i < dims->input_spatial.size(); ++i)
    if (dims->output_spatial[i] == dimension) return {{0, dims->input_spatial[i]}};
  return {};
}

// For a reshape: the operand dimension of the same size, with the same number of elements in the dimensions before it.
Sources ReshapeSources(Ints operand, Ints result, int64_t dimension) {
  auto before = [](Ints dims, int64_t end) {
    int64_t count = 1;
    for (int64_t d = 0; d < end; ++d) count *= dims[static_cast<size_t>(d)];
    return count;
  };
  for (int64_t d = 0; d < std::ssize(operand); ++d)
    if (operand[static_cast<size_t>(d)] == result[static_cast<size_t>(dimension)] &&
        before(operand, d) == before(result, dimension))
      return {{0, d}};
  return {};
}

// This dimension of every operand that has the result's rank and the same size in it.
Sources SameDimensionSources(const Instruction& hlo, int64_t dimension) {
  Sources sources;
  for (size_t i = 0; i < hlo.operands.size(); ++i) {
    const Shape& operand = hlo.operand_shape(static_cast<int>(i));
    if (operand.IsArray() && operand.rank() == hlo.shape().rank() && operand.dim(static_cast<int>(dimension)) ==
        hlo.shape().dim(static_cast<int>(dimension)))
      sources.push_back({i, dimension});
  }
  return sources;
}

Sources ReductionSources(const Instruction& hlo, int64_t dimension) {
  const auto remaining = FreeDims(hlo.operand_shape(0).rank(), {}, hlo[kDimensions]);
  if (static_cast<size_t>(dimension) >= remaining.size()) return {};
  return {{0, remaining[static_cast<size_t>(dimension)]}};
}

// Result dimensions that are not in offset_dims correspond to the dimensions of the indices without index_vector_dim.
Sources GatherSources(const Instruction& hlo, int64_t dimension) {
  const Ints offsets = hlo[Op<Opcode::kGather>::kOffsetDims];
  if (hlo.operands.size() < 2 || Contains(offsets, dimension)) return {};
  int64_t batch = dimension - std::count_if(offsets.begin(), offsets.end(), [&](int64_t o) { return o < dimension; });
  if (batch >= hlo[kIndexVectorDim]) ++batch;
  if (batch >= hlo.operand_shape(1).rank()) return {};
  return {{1, batch}};
}

}  // namespace

Sources DimensionSources(const Instruction& hlo, int64_t dimension) {
  const auto d = static_cast<size_t>(dimension);
  if (hlo.operands.empty() || !hlo.shape().IsArray() || dimension >= hlo.shape().rank()) return {};
  const bool from_array = hlo.operand_shape(0).IsArray();
  switch (hlo.opcode) {
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      return ContractionSources(hlo, dimension);
    case Opcode::kConvolution:
      return ConvolutionSources(hlo, dimension);
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return from_array ? ReshapeSources(hlo.operand_shape(0).dims(), hlo.shape().dims(), dimension) : Sources{};
    case Opcode::kTranspose:
      return d < hlo[kDimensions].size() ? Sources{{0, hlo[kDimensions][d]}} : Sources{};
    case Opcode::kBroadcast: {
      const Ints dims = hlo[kDimensions];
      const auto found = std::find(dims.begin(), dims.end(), dimension);
      return found == dims.end() ? Sources{} : Sources{{0, found - dims.begin()}};
    }
    case Opcode::kReduce:
      return from_array ? ReductionSources(hlo, dimension) : Sources{};
    case Opcode::kReverse:
      return {{0, dimension, Contains(hlo[kDimensions], dimension)}};
    case Opcode::kConcatenate:
      return Contains(hlo[kDimensions], dimension) ? Sources{} : SameDimensionSources(hlo, dimension);
    case Opcode::kGather:
      return GatherSources(hlo, dimension);
    default:
      return SameDimensionSources(hlo, dimension);
  }
}

}  // namespace shoal::internal
