#include "core/ops/custom_call_cost.h"

#include <algorithm>
#include <cmath>

#include "core/ops/backend_config.h"
#include "core/ops/contraction.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

double ElementsOf(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  double count = 1;
  for (int64_t size : shape.dims()) count *= static_cast<double>(std::max<int64_t>(size, 0));
  return count;
}

// Operand i if it is an array with at least `min_rank` dimensions; else null.
const Shape* ArrayOperand(const Instruction& hlo, size_t i, int64_t min_rank) {
  if (i >= hlo.operand_count() || !hlo.operand_shape(i).IsArray()) return nullptr;
  return hlo.operand_shape(i).rank() < min_rank ? nullptr : &hlo.operand_shape(i);
}

// Size of the dimension `back` positions before the last.
double FromEnd(const Shape& shape, int64_t back) { return static_cast<double>(shape.dim(shape.rank() - 1 - back)); }

CallCost CostOfFlops(const Instruction& hlo, double flops, double transcendentals = 0) {
  CallCost cost{flops, transcendentals, 0, 0, false};
  AddCallMemory(hlo, cost);
  return cost;
}

// Dimensions of operand 0 that the list `key` of backend_config names; no value if one is out of range.
std::optional<std::vector<int64_t>> LhsDims(const Instruction& hlo, const BackendConfig& numbers, std::string_view key) {
  const std::vector<int64_t> dims = numbers.Ints(key);
  for (int64_t d : dims)
    if (d < 0 || d >= hlo.operand_shape(0).rank()) return std::nullopt;
  return dims;
}

// Every element of the result is a sum over the contracting dimensions.
std::optional<double> DotCallFlops(const Instruction& hlo, const BackendConfig& numbers) {
  if (!numbers.has("lhs_contracting_dimensions") || hlo.operand_count() < 2 || !hlo.operand_shape(0).IsArray())
    return std::nullopt;
  const auto contracting = LhsDims(hlo, numbers, "lhs_contracting_dimensions");
  if (!contracting) return std::nullopt;
  double width = 1;
  for (int64_t d : *contracting) width *= static_cast<double>(hlo.operand_shape(0).dim(d));
  return 2 * ElementsOf(FirstElement(hlo.shape())) * width;
}

// Sizes of an attention call.
struct AttentionSizes {
  double scores = 0;  // elements of Q K^T: batch * heads * queries * keys
  double query_size = 0, value_size = 0;  // sizes of one head
};

// TransformerEngine's backend_config has all sizes; cuDNN's has the shape of Q K^T.
std::optional<AttentionSizes> SizesFromConfig(const Instruction& hlo) {
  const BackendConfig config = BackendConfig::Of(hlo);
  if (config.has("q_max_seqlen") && config.has("kv_max_seqlen")) {
    const double size = config.Number("head_dim", config.Number("qk_head_dim"));
    return AttentionSizes{config.Number("input_batch") * config.Number("attn_heads") * config.Number("q_max_seqlen") *
                              config.Number("kv_max_seqlen"),
                          size, config.Number("v_head_dim", size)};
  }
  const std::vector<int64_t> score_dims =
      config.Object("cudnn_fmha_backend_config").Object("intermediate_tensor_shape").Ints("dimensions");
  const Shape* query = ArrayOperand(hlo, 0, 1);
  if (score_dims.size() < 2 || query == nullptr) return std::nullopt;
  double scores = 1;
  for (int64_t size : score_dims) scores *= static_cast<double>(std::max<int64_t>(size, 0));
  return AttentionSizes{scores, FromEnd(*query, 0), FromEnd(*query, 0)};
}

// Q is [… batch, sequence, heads, size] with any number of batch dimensions. Q packed with K and V is [… sequence, 3,
// heads, size]; K packed with V is [… sequence, 2, heads, size]. Operands that packing makes unnecessary are empty.
std::optional<AttentionSizes> SizesFromShapes(const Instruction& hlo) {
  const Shape *query = ArrayOperand(hlo, 0, 4), *keys = ArrayOperand(hlo, 1, 1), *values = ArrayOperand(hlo, 2, 1);
  if (query == nullptr || keys == nullptr) return std::nullopt;
  double elements = ElementsOf(*query), length = 0;
  if (ElementsOf(*keys) == 0 && query->rank() >= 5) {
    elements /= 3;
    length = FromEnd(*query, 3);
  } else if (keys->rank() >= 5 && keys->rank() == query->rank() + 1 && values != nullptr && ElementsOf(*values) == 0) {
    length = FromEnd(*keys, 3);
  } else if (keys->rank() == query->rank()) {
    length = FromEnd(*keys, 2);
  } else {
    return std::nullopt;
  }
  const double size = FromEnd(*query, 0);
  return AttentionSizes{size == 0 ? 0 : elements / size * length, size, size};
}

// Number and size of the matrices in the last two dimensions of operand 0.
struct Matrices {
  double count = 0, rows = 0, columns = 0;
};
std::optional<Matrices> MatricesOf(const Instruction& hlo) {
  const Shape* shape = ArrayOperand(hlo, 0, 2);
  if (shape == nullptr) return std::nullopt;
  const double rows = FromEnd(*shape, 1), columns = FromEnd(*shape, 0), matrix_size = rows * columns;
  return Matrices{matrix_size == 0 ? 0 : ElementsOf(*shape) / matrix_size, rows, columns};
}

}  // namespace

void AddCallMemory(const Instruction& hlo, CallCost& cost) {
  for (const Instruction* operand : hlo.operands) cost.bytes_read += LeafBytesOf(operand->shape());
  // A tuple has the result first, then secondary results. A last element u8[n] or s8[n] is a workspace.
  const Shape& shape = hlo.shape();
  if (!shape.IsTuple()) {
    cost.bytes_written += LeafBytesOf(shape);
    return;
  }
  const auto elements = shape.elements();
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool workspace = i > 0 && i + 1 == elements.size() && elements[i]->IsArray() && elements[i]->rank() == 1 &&
                           (elements[i]->element_type() == ElementType::kU8 ||
                            elements[i]->element_type() == ElementType::kS8);
    if (!workspace) cost.bytes_written += LeafBytesOf(*elements[i]);
  }
}

std::optional<CallCost> EstimateCost(const Instruction& hlo) {
  const BackendConfig config = BackendConfig::Of(hlo);
  for (const BackendConfig& part : {config, config.Object("custom_call_config")}) {
    if (!part.has("cost_estimate")) continue;
    const BackendConfig estimate = part.Object("cost_estimate");
    if (!estimate.has("flops") && !estimate.has("bytes_accessed")) continue;
    CallCost cost = CostOfFlops(hlo, std::max(estimate.Number("flops"), 0.0),
                                std::max(estimate.Number("transcendentals"), 0.0));
    // The estimate does not state the bytes written: they are taken from the result shapes.
    if (const double bytes = estimate.Number("bytes_accessed", -1); bytes >= 0) {
      cost.bytes_written = std::min(cost.bytes_written, bytes);
      cost.bytes_read = bytes - cost.bytes_written;
    }
    cost.is_estimate = true;
    return cost;
  }
  return std::nullopt;
}

std::optional<CallCost> MovesCost(const Instruction& hlo) { return CostOfFlops(hlo, 0); }

std::optional<CallCost> PerElementCost(const Instruction& hlo) { return CostOfFlops(hlo, ElementsOf(FirstElement(hlo.shape()))); }

std::optional<CallCost> SoftmaxCost(const Instruction& hlo) {
  const Shape* operand = ArrayOperand(hlo, 0, 0);
  if (operand == nullptr) return std::nullopt;
  return CostOfFlops(hlo, 4 * ElementsOf(*operand), ElementsOf(*operand));
}

std::optional<CallCost> NormCost(const Instruction& hlo) {
  const Shape* operand = ArrayOperand(hlo, 0, 0);
  if (operand == nullptr) return std::nullopt;
  return CostOfFlops(hlo, 7 * ElementsOf(*operand));
}

std::optional<CallCost> SortCost(const Instruction& hlo) {
  const Shape* operand = ArrayOperand(hlo, 0, 1);
  if (operand == nullptr) return std::nullopt;
  return CostOfFlops(hlo, ElementsOf(*operand) * std::ceil(std::log2(std::max(FromEnd(*operand, 0), 1.0))));
}

// backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]…
std::optional<CallCost> GemmCost(const Instruction& hlo) {
  const BackendConfig config = BackendConfig::Of(hlo);
  for (std::string_view key : {"gemm_backend_config", "onednn_matmul_config"}) {
    if (!config.has(key)) continue;
    const std::optional<double> flops = DotCallFlops(hlo, config.Object(key).Object("dot_dimension_numbers"));
    return flops ? std::optional(CostOfFlops(hlo, *flops)) : std::nullopt;
  }
  const std::optional<double> flops = DotCallFlops(hlo, config.Object("dot_dimension_numbers"));
  return flops ? std::optional(CostOfFlops(hlo, *flops)) : std::nullopt;
}

// Assumes that the groups cover all of the ragged dimension. If that dimension is contracted, the result has a part for
// each group, and all parts together cost one dot. (XLA looks up the dimensions under the wrong key and finds none.)
std::optional<CallCost> GroupedGemmCost(const Instruction& hlo) {
  const BackendConfig config = BackendConfig::Of(hlo);
  const BackendConfig ragged = config.Object("grouped_gemm_backend_config").Object("ragged_dot_dimension_numbers");
  const BackendConfig numbers = ragged.Object("dot_dimension_numbers");
  const std::optional<double> flops = DotCallFlops(hlo, numbers);
  if (!flops || hlo.operand_count() < 3) return std::nullopt;
  const auto ragged_dims = LhsDims(hlo, ragged, "lhs_ragged_dimensions");
  const auto contracting = LhsDims(hlo, numbers, "lhs_contracting_dimensions");
  if (!ragged_dims || ragged_dims->size() != 1 || !contracting) return std::nullopt;
  if (std::find(contracting->begin(), contracting->end(), ragged_dims->front()) == contracting->end())
    return CostOfFlops(hlo, *flops);
  const Shape* sizes = ArrayOperand(hlo, 2, 1);
  if (sizes == nullptr || sizes->dims().back() == 0) return std::nullopt;
  return CostOfFlops(hlo, *flops / static_cast<double>(sizes->dims().back()));
}

// The last dimension of both operands is the contracting one.
std::optional<CallCost> BlockScaledDotCost(const Instruction& hlo) {
  const Shape* lhs = ArrayOperand(hlo, 0, 1);
  if (lhs == nullptr || hlo.operand_count() < 2) return std::nullopt;
  return CostOfFlops(hlo, 2 * ElementsOf(FirstElement(hlo.shape())) * FromEnd(*lhs, 0));
}

std::optional<CallCost> TransformerEngineGemmCost(const Instruction& hlo) {
  const Shape *lhs = ArrayOperand(hlo, 0, 1), *rhs = ArrayOperand(hlo, 1, 1);
  const double result = ElementsOf(FirstElement(hlo.shape()));
  if (lhs == nullptr || rhs == nullptr || result == 0) return std::nullopt;
  return CostOfFlops(hlo, 2 * result * ContractedSize(ElementsOf(*lhs), ElementsOf(*rhs), result));
}

// All three kinds of convolution do as many multiplications as the forward convolution: one for each combination of
// output element, kernel tap and input feature of the group.
std::optional<CallCost> ConvolutionCost(const Instruction& hlo) {
  const ConvDims* dims = hlo[kDimLabels];
  if (dims == nullptr || hlo.operand_count() < 2) return std::nullopt;
  const std::string_view target = hlo[Op<Opcode::kCustomCall>::kTarget];
  const Shape* output = &FirstElement(hlo.shape());
  const Shape* kernel = &hlo.operand_shape(1);
  if (target == "__cudnn$convBackwardInput") output = &hlo.operand_shape(0);
  if (target == "__cudnn$convBackwardFilter") {
    output = &hlo.operand_shape(1);
    kernel = &FirstElement(hlo.shape());
  }
  const auto rank = static_cast<size_t>(kernel->rank());
  if (rank != dims->kernel_spatial.size() + 2 || rank != static_cast<size_t>(output->rank())) return std::nullopt;
  double taps = static_cast<double>(kernel->dim(dims->kernel_input_feature));
  for (int64_t d : dims->kernel_spatial) taps *= static_cast<double>(kernel->dim(d));
  return CostOfFlops(hlo, 2 * ElementsOf(*output) * taps);
}

// softmax(Q K^T) V: two GEMMs forward, five backward. Masked elements are counted.
std::optional<CallCost> AttentionCost(const Instruction& hlo) {
  std::optional<AttentionSizes> sizes = SizesFromConfig(hlo);
  if (!sizes) sizes = SizesFromShapes(hlo);
  if (!sizes) return std::nullopt;
  const bool backward = hlo[Op<Opcode::kCustomCall>::kTarget].find("ackward") != std::string_view::npos;
  // The backward pass recomputes Q K^T and dP = dO V^T, and has a GEMM for the gradient of each operand.
  const double with_query = backward ? 3 : 1, with_value = backward ? 2 : 1;
  return CostOfFlops(hlo, 2 * sizes->scores * (with_query * sizes->query_size + with_value * sizes->value_size));
}

std::optional<CallCost> CholeskyCost(const Instruction& hlo) {
  const std::optional<Matrices> m = MatricesOf(hlo);
  if (!m) return std::nullopt;
  return CostOfFlops(hlo, m->count * m->rows * m->rows * m->rows / 3);
}

std::optional<CallCost> LuCost(const Instruction& hlo) {
  const std::optional<Matrices> m = MatricesOf(hlo);
  if (!m) return std::nullopt;
  const double small = std::min(m->rows, m->columns), large = std::max(m->rows, m->columns);
  return CostOfFlops(hlo, m->count * small * small * (large - small / 3));
}

std::optional<CallCost> QrCost(const Instruction& hlo) {
  const std::optional<CallCost> lu = LuCost(hlo);
  return lu ? std::optional(CostOfFlops(hlo, 2 * lu->flops)) : std::nullopt;
}

// Each element of the other operand costs as many flops as the triangle has rows.
std::optional<CallCost> TriangularSolveCost(const Instruction& hlo) {
  const std::optional<Matrices> m = MatricesOf(hlo);
  const Shape* other = ArrayOperand(hlo, 1, 1);
  if (!m || other == nullptr) return std::nullopt;
  return CostOfFlops(hlo, m->rows * ElementsOf(*other));
}

}  // namespace shoal::internal
