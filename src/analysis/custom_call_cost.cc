// Prices of custom calls that are matrix products, convolutions or attention, from their shapes.
#include <algorithm>

#include "analysis/cost.h"
#include "nlohmann/json.hpp"
#include "ops/families.h"

namespace shoal {
namespace {

using CustomCall = Op<Opcode::kCustomCall>;
using Json = nlohmann::json;

const Shape& ResultOf(const Instruction& hlo) {
  return hlo.shape().IsTuple() && !hlo.shape().elements().empty() ? hlo.shape().element(0) : hlo.shape();
}

double Elements(const Shape& shape) {
  return shape.IsArray() ? static_cast<double>(shape.ElementCount().value_or(0)) : 0;
}

Json ConfigOf(const Instruction& hlo) {
  Json config = Json::parse(hlo[kBackendConfig], nullptr, /*allow_exceptions=*/false);
  return config.is_object() ? config : Json::object();
}

// Of the operands and the results; a workspace of bytes counts for nothing.
void AddMemory(const Instruction& hlo, Cost& cost) {
  for (const Instruction* operand : hlo.operands) cost.bytes_read += LeafBytesOf(operand->shape());
  cost.bytes_written = LeafBytesOf(ResultOf(hlo));
}

// What an object has under a name; an empty object where there is nothing.
const Json& Member(const Json& object, const char* name) {
  static const Json none = Json::object();
  return object.is_object() && object.contains(name) ? object[name] : none;
}

// The dimensions of operand 0 in a list of backend_config, ["0","1"] or [0,1]; nothing if it has others.
std::optional<std::vector<int64_t>> LhsDims(const Instruction& hlo, const Json& list) {
  std::vector<int64_t> dims;
  for (const Json& dimension : list) {
    if (!dimension.is_string() && !dimension.is_number_integer()) return std::nullopt;
    const int64_t d =
        dimension.is_string() ? std::atoll(dimension.get<std::string>().c_str()) : dimension.get<int64_t>();
    if (d < 0 || d >= hlo.operand_shape(0).rank()) return std::nullopt;
    dims.push_back(d);
  }
  return dims;
}

// Every element of the result is a sum as long as the contracting dimensions.
std::optional<double> DotFlops(const Instruction& hlo, const Json& numbers) {
  if (numbers.empty() || hlo.operand_count() < 2 || !hlo.operand_shape(0).IsArray()) return std::nullopt;
  const auto contracting = LhsDims(hlo, Member(numbers, "lhs_contracting_dimensions"));
  if (!contracting) return std::nullopt;
  double width = 1;
  for (int64_t d : *contracting) width *= static_cast<double>(hlo.operand_shape(0).dim(d));
  return 2 * Elements(ResultOf(hlo)) * width;
}

// backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]…
std::optional<double> ProductFlops(const Instruction& hlo) {
  const Json config = ConfigOf(hlo);
  const Json* dots = &config;
  for (const char* key : {"gemm_backend_config", "onednn_matmul_config"})
    if (config.contains(key)) dots = &config[key];
  return DotFlops(hlo, Member(*dots, "dot_dimension_numbers"));
}

// As if the groups covered all of the ragged dimension. Where that is contracted, the result has a part for each group,
// and the parts together cost one product. (XLA looks for the dimensions in the wrong place and finds none.)
std::optional<double> GroupedProductFlops(const Instruction& hlo) {
  const Json config = ConfigOf(hlo);
  const Json& ragged = Member(Member(config, "grouped_gemm_backend_config"), "ragged_dot_dimension_numbers");
  const Json& numbers = Member(ragged, "dot_dimension_numbers");
  const std::optional<double> flops = DotFlops(hlo, numbers);
  if (!flops || hlo.operand_count() < 3) return std::nullopt;
  const auto divided = LhsDims(hlo, Member(ragged, "lhs_ragged_dimensions"));
  const auto contracting = LhsDims(hlo, Member(numbers, "lhs_contracting_dimensions"));
  if (!divided || divided->size() != 1 || !contracting) return std::nullopt;
  if (std::find(contracting->begin(), contracting->end(), divided->front()) == contracting->end()) return flops;
  const Shape& sizes = hlo.operand_shape(2);
  if (!sizes.IsArray() || sizes.rank() == 0 || sizes.dims().back() == 0) return std::nullopt;
  return *flops / static_cast<double>(sizes.dims().back());
}

// Rows times rows: the last dimension is the contracting one.
std::optional<double> BlockScaledFlops(const Instruction& hlo) {
  if (hlo.operand_count() < 2 || !hlo.operand_shape(0).IsArray() || hlo.operand_shape(0).rank() == 0)
    return std::nullopt;
  return 2 * Elements(ResultOf(hlo)) * static_cast<double>(hlo.operand_shape(0).dims().back());
}

// All three kinds of convolution do the products of the forward one: for each output element of that, each tap of the
// kernel and each input feature of the group.
std::optional<double> ConvolutionFlops(const Instruction& hlo) {
  const ConvDims* dims = hlo[kDimLabels];
  if (dims == nullptr || hlo.operand_count() < 2) return std::nullopt;
  const std::string_view target = hlo[CustomCall::kTarget];
  const Shape* output = &ResultOf(hlo);
  const Shape* kernel = &hlo.operand_shape(1);
  if (target == "__cudnn$convBackwardInput") output = &hlo.operand_shape(0);
  if (target == "__cudnn$convBackwardFilter") {
    output = &hlo.operand_shape(1);
    kernel = &ResultOf(hlo);
  }
  const auto rank = static_cast<size_t>(kernel->rank());
  if (rank != dims->kernel_spatial.size() + 2 || rank != static_cast<size_t>(output->rank())) return std::nullopt;
  double taps = static_cast<double>(kernel->dim(dims->kernel_input_feature));
  for (int64_t d : dims->kernel_spatial) taps *= static_cast<double>(kernel->dim(d));
  return 2 * Elements(*output) * taps;
}

// softmax(Q K^T) V over [batch, sequence, heads, size]: two products forward, five backward. What a mask leaves out is
// counted.
std::optional<double> AttentionFlops(const Instruction& hlo) {
  const std::string_view target = hlo[CustomCall::kTarget];
  const bool backward = target.find("ackward") != std::string_view::npos;
  const Shape* query = nullptr;
  for (const Instruction* operand : hlo.operands)
    if (query == nullptr && operand->shape().IsArray() && operand->shape().rank() == 4) query = &operand->shape();
  if (query == nullptr || hlo.operand_count() < 2 || hlo.operand_shape(1).rank() != 4) return std::nullopt;
  const double keys = static_cast<double>(hlo.operand_shape(1).dim(1));
  return (backward ? 10 : 4) * Elements(*query) * keys;
}

struct Row {
  std::string_view prefix;
  std::optional<double> (*flops)(const Instruction&);
};
// The first that matches counts.
constexpr Row kRows[] = {
    {"__cublas$lt$groupedMatmul", &GroupedProductFlops},
    {"__cublas$", &ProductFlops},
    {"__cudnn$blockScaledDot", &BlockScaledFlops},
    {"__cudnn$conv", &ConvolutionFlops},
    {"__cudnn$fmha", &AttentionFlops},
    {"__onednn$matmul", &ProductFlops},
    {"__op$block_scaled_dot", &BlockScaledFlops},
    {"te_fused_attn_", &AttentionFlops},
};

// Calls that only say something about a value.
constexpr std::string_view kFree[] = {"Sharding",
                                      "SPMDFullToShardShape",
                                      "SPMDShardToFullShape",
                                      "xla.sdy.",
                                      "LayoutConstraint",
                                      "annotate_device_placement",
                                      "Pin",
                                      "Unpin",
                                      "CreateBuffer",
                                      "AllocateBuffer",
                                      "MoveToHost",
                                      "MoveToDevice",
                                      "AsyncCollectiveStart",
                                      "AsyncCollectiveDone"};

}  // namespace

bool IsFreeCall(const Instruction& hlo) {
  const std::string_view target = hlo[CustomCall::kTarget];
  return std::any_of(std::begin(kFree), std::end(kFree),
                     [&](std::string_view name) { return target.substr(0, name.size()) == name; });
}

std::optional<Cost> CustomCallCost(const Instruction& hlo) {
  const std::string_view target = hlo[CustomCall::kTarget];
  Cost cost;
  if (IsFreeCall(hlo)) return cost;
  for (const Row& row : kRows) {
    if (target.substr(0, row.prefix.size()) != row.prefix) continue;
    std::optional<double> flops = row.flops(hlo);
    if (!flops) return std::nullopt;
    cost.flops = *flops;
    AddMemory(hlo, cost);
    return cost;
  }
  return std::nullopt;
}

}  // namespace shoal
