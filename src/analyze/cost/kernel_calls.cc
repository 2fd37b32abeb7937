// Describes the kernels of a library call from the row in core/ops/custom_calls.def, the shapes and the config.
#include <algorithm>

#include "analyze/cost/kernel_config.h"
#include "analyze/cost/kernel_parts.h"
#include "analyze/cost/kernel_products.h"
#include "analyze/cost/kernel_traffic.h"
#include "core/ops/custom_call_cost.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

// Counts the bytes of all operands and of all results except workspaces.
void MeasureCallTraffic(const Instruction& call, KernelDescriptor& kernel) {
  for (const Instruction* operand : call.operands) kernel.reads.push_back(DataBytes(operand->shape()));
  if (!call.shape().IsTuple()) {
    kernel.written = DataBytes(call.shape());
    return;
  }
  for (size_t i = 0; i < call.shape().elements().size(); ++i) {
    const Shape& part = *call.shape().elements()[i];
    const bool workspace = i > 0 && part.IsArray() && part.rank() == 1 && BitWidth(part.element_type()) == 8;
    if (!workspace) kernel.written += DataBytes(part);
  }
}

void DescribeGemmCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel) {
  kernel.product = GemmOfCall(call, config);
  if (kernel.product) kernel.family = KernelKind::kGemm;
}

// Describes a GEMM whose config has no dimension numbers. The operand sizes determine the contracting dimension.
void DescribePlainDot(const Instruction& call, const ConfigJson&, KernelDescriptor& kernel) {
  kernel.product = GemmOfSizes(call);
  if (kernel.product) kernel.family = KernelKind::kGemm;
}

void DescribeConvolutionCall(const Instruction& call, const ConfigJson&, KernelDescriptor& kernel) {
  const auto shape = ConvolutionOf(call);
  if (!shape) return;
  kernel.family = KernelKind::kConvolution;
  kernel.product = shape->gemm;
  kernel.convolution = shape;
  kernel.launches = 2;
}

void DescribeAttentionCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel) {
  kernel.attention = AttentionOf(call, config);
  if (!kernel.attention) return;
  kernel.family = KernelKind::kAttention;
  if (kernel.attention->causal) kernel.flops /= 2;  // masked elements are not computed
  kernel.launches = kernel.attention->backward ? 8 : 4;
}

void DescribeRadixSort(const Instruction& call, const ConfigJson&, KernelDescriptor& kernel) {
  const Shape& result = call.shape();
  const Shape& key = FirstElement(result);
  kernel.family = KernelKind::kRadixSort;
  kernel.elements = ElementsOf(key);
  kernel.key_bytes = BitWidth(key.element_type()) / 8.0;
  kernel.row_length = key.rank() > 0 ? static_cast<double>(key.dims().back()) : 1;
  kernel.rows = kernel.elements / std::max(1.0, kernel.row_length);
  const bool pairs = call.operand_count() > 1;
  kernel.value_bytes = pairs && result.IsTuple() && result.elements().size() > 1 ? BitWidth(result.element(1).element_type()) / 8.0 : 0;
  kernel.launches = 12;
}

void DescribeTopK(const Instruction& call, const ConfigJson&, KernelDescriptor& kernel) {
  kernel.family = KernelKind::kTopK;
  if (call.operands.empty() || !call.operand_shape(0).IsArray() || call.operand_shape(0).rank() == 0) return;
  const Shape& source = call.operand_shape(0);
  kernel.elements = ElementsOf(source);
  kernel.row_length = static_cast<double>(source.dims().back());
  kernel.rows = kernel.elements / std::max(1.0, kernel.row_length);
}

// Distinguishes a sort, which returns all elements of its operand, from a top-k, which returns fewer.
void DescribeSortCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel) {
  const Shape& result = FirstElement(call.shape());
  const bool is_full_sort = !call.operands.empty() && ElementsOf(result) >= ElementsOf(call.operand_shape(0));
  (is_full_sort ? DescribeRadixSort : DescribeTopK)(call, config, kernel);
}

// Calls that share a cost function also share a kind of kernel.
struct CallRow {
  std::optional<CallCost> (*cost)(const Instruction&);
  void (*describe)(const Instruction&, const ConfigJson&, KernelDescriptor&);
};
constexpr CallRow kRows[] = {
    {&GemmCost, &DescribeGemmCall},     {&ConvolutionCost, &DescribeConvolutionCall},
    {&AttentionCost, &DescribeAttentionCall}, {&SortCost, &DescribeSortCall},
    {&TransformerEngineGemmCost, &DescribePlainDot}, {&BlockScaledDotCost, &DescribePlainDot},
};

}  // namespace

void DescribeCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel) {
  if (IsFreeCall(call)) return;
  MeasureCallTraffic(call, kernel);
  kernel.family = KernelKind::kUnknownCall;
  if (const auto cost = CallCostOf(call)) kernel.flops = cost->flops;
  const CustomCallFacts* facts = FactsOf(call);
  if (facts == nullptr) return;
  for (const CallRow& row : kRows)
    if (row.cost == facts->cost) return row.describe(call, config, kernel);
}

}  // namespace shoal::internal
