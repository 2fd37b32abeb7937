// Which kernels a library call runs: from its row in core/ops/custom_calls.def, its shapes and its backend_config.
#include <algorithm>

#include "analyze/cost/kernel_config.h"
#include "analyze/cost/kernel_parts.h"
#include "analyze/cost/kernel_products.h"
#include "analyze/cost/kernel_traffic.h"
#include "core/ops/custom_call_price.h"
#include "core/ops/families.h"

namespace shoal {
namespace {

// Operands, and results but for workspaces.
void CallTraffic(const Instruction& call, DeviceKernel& kernel) {
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

void DescribeProductCall(const Instruction& call, const ConfigJson& config, DeviceKernel& kernel) {
  kernel.product = ProductOfCall(call, config);
  if (kernel.product) kernel.family = KernelFamily::kProduct;
}

// A product whose dimensions no config names: what is summed follows from the sizes.
void DescribePlainProduct(const Instruction& call, const ConfigJson&, DeviceKernel& kernel) {
  kernel.product = ProductOfSizes(call);
  if (kernel.product) kernel.family = KernelFamily::kProduct;
}

void DescribeConvolutionCall(const Instruction& call, const ConfigJson&, DeviceKernel& kernel) {
  const auto shape = ConvolutionOf(call);
  if (!shape) return;
  kernel.family = KernelFamily::kConvolution;
  kernel.product = shape->product;
  kernel.convolution = shape;
  kernel.launches = 2;
}

void DescribeAttentionCall(const Instruction& call, const ConfigJson& config, DeviceKernel& kernel) {
  kernel.attention = AttentionOf(call, config);
  if (!kernel.attention) return;
  kernel.family = KernelFamily::kAttention;
  if (kernel.attention->causal) kernel.flops /= 2;  // what is masked is not computed
  kernel.launches = kernel.attention->backward ? 8 : 4;
}

void DescribeRadixSort(const Instruction& call, const ConfigJson&, DeviceKernel& kernel) {
  const Shape& result = call.shape();
  const Shape& key = result.IsTuple() && !result.elements().empty() ? result.element(0) : result;
  kernel.family = KernelFamily::kRadixSort;
  kernel.elements = ElementsOf(key);
  kernel.key_bytes = BitWidth(key.element_type()) / 8.0;
  kernel.row_length = key.rank() > 0 ? static_cast<double>(key.dims().back()) : 1;
  kernel.rows = kernel.elements / std::max(1.0, kernel.row_length);
  const bool pairs = call.operand_count() > 1;
  kernel.value_bytes = pairs && result.IsTuple() && result.elements().size() > 1 ? BitWidth(result.element(1).element_type()) / 8.0 : 0;
  kernel.launches = 12;
}

void DescribeTopK(const Instruction& call, const ConfigJson&, DeviceKernel& kernel) {
  kernel.family = KernelFamily::kTopK;
  if (call.operands.empty() || !call.operand_shape(0).IsArray() || call.operand_shape(0).rank() == 0) return;
  const Shape& source = call.operand_shape(0);
  kernel.elements = ElementsOf(source);
  kernel.row_length = static_cast<double>(source.dims().back());
  kernel.rows = kernel.elements / std::max(1.0, kernel.row_length);
}

// A sort gives all it was given, a top-k less.
void DescribeSortCall(const Instruction& call, const ConfigJson& config, DeviceKernel& kernel) {
  const Shape& result = call.shape().IsTuple() && !call.shape().elements().empty() ? call.shape().element(0) : call.shape();
  const bool all = !call.operands.empty() && ElementsOf(result) >= ElementsOf(call.operand_shape(0));
  (all ? DescribeRadixSort : DescribeTopK)(call, config, kernel);
}

// Calls that are priced alike run kernels of one kind.
struct CallRow {
  std::optional<CallPrice> (*price)(const Instruction&);
  void (*describe)(const Instruction&, const ConfigJson&, DeviceKernel&);
};
constexpr CallRow kRows[] = {
    {&ProductPrice, &DescribeProductCall},     {&ConvolutionPrice, &DescribeConvolutionCall},
    {&AttentionPrice, &DescribeAttentionCall}, {&SortPrice, &DescribeSortCall},
    {&TransformerEngineProductPrice, &DescribePlainProduct}, {&BlockScaledProductPrice, &DescribePlainProduct},
};

}  // namespace

void DescribeCall(const Instruction& call, const ConfigJson& config, DeviceKernel& kernel) {
  if (IsFreeCall(call)) return;
  CallTraffic(call, kernel);
  kernel.family = KernelFamily::kUnknownCall;
  if (const auto price = CustomCallPrice(call)) kernel.flops = price->flops;
  const CustomCallFacts* facts = FactsOf(call);
  if (facts == nullptr) return;
  for (const CallRow& row : kRows)
    if (row.price == facts->price) return row.describe(call, config, kernel);
}

}  // namespace shoal
