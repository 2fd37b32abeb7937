#include "analyze/cost/kernel_products.h"

#include <algorithm>

#include "analyze/cost/kernel_traffic.h"
#include "core/ops/contraction.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

MatrixUnit UnitOf(ElementType type, bool full_precision) {
  const int bits = BitWidth(type);
  if (type == ElementType::kF64 || bits >= 64) return MatrixUnit::kF64;
  if (type == ElementType::kF32) return full_precision ? MatrixUnit::kF32 : MatrixUnit::kTf32;
  if (bits == 16) return MatrixUnit::kBf16;
  if (bits == 4) return MatrixUnit::kF4;
  if (type == ElementType::kS8 || type == ElementType::kU8) return MatrixUnit::kS8;
  return bits == 8 ? MatrixUnit::kF8 : MatrixUnit::kF32;
}

int64_t MinorDim(const Shape& shape) {
  if (shape.rank() == 0) return 0;
  const Layout* layout = shape.layout();
  return layout != nullptr && !layout->minor_to_major.empty() ? layout->minor_to_major[0] : shape.rank() - 1;
}

struct DotDims {
  std::vector<int64_t> lhs_batch, lhs_contracting, rhs_contracting;
};

std::optional<GemmShape> MakeGemmShape(const Shape& lhs, const Shape& rhs, const DotDims& dims, bool full_precision) {
  if (!lhs.IsArray() || !rhs.IsArray()) return std::nullopt;
  GemmShape gemm;
  for (int64_t d : dims.lhs_contracting) {
    if (d < 0 || d >= lhs.rank()) return std::nullopt;
    gemm.k *= static_cast<double>(lhs.dim(d));
  }
  for (int64_t d : dims.lhs_batch) {
    if (d < 0 || d >= lhs.rank()) return std::nullopt;
    gemm.batch *= static_cast<double>(lhs.dim(d));
  }
  const double inner = std::max(1.0, gemm.k * gemm.batch);
  gemm.m = ElementsOf(lhs) / inner;
  gemm.n = ElementsOf(rhs) / inner;
  gemm.unit = UnitOf(lhs.element_type(), full_precision);
  gemm.operand_bytes = BitWidth(lhs.element_type()) / 8.0;
  gemm.neither_k_minor =
      !Contains(dims.lhs_contracting, MinorDim(lhs)) && !Contains(dims.rhs_contracting, MinorDim(rhs));
  return gemm;
}

bool IsFullPrecision(const Instruction& hlo) {
  const DotAlgorithm algorithm = hlo[kAlgorithm];
  if (algorithm == DotAlgorithm::kF32F32F32) return true;
  for (const EnumValue& precision : hlo[kOperandPrecision])
    if (static_cast<Precision>(precision.index) == Precision::kHighest) return true;
  return false;
}

std::vector<int64_t> DimsOf(const ConfigJson& list) {
  std::vector<int64_t> dims;
  for (double number : NumbersOf(list)) dims.push_back(static_cast<int64_t>(number));
  return dims;
}

ConvolutionShape::Pass PassOf(const Instruction& hlo) {
  if (HasTrait(hlo, kFilterGradient)) return ConvolutionShape::Pass::kFilter;
  if (HasTrait(hlo, kInputGradient)) return ConvolutionShape::Pass::kInput;
  return ConvolutionShape::Pass::kForward;
}

}  // namespace

std::optional<GemmShape> GemmOf(const Instruction& dot) {
  if (dot.operand_count() < 2) return std::nullopt;
  auto list = [](Ints dims) { return std::vector<int64_t>(dims.begin(), dims.end()); };
  const DotDims dims{list(dot[kLhsBatchDims]), list(dot[kLhsContractingDims]), list(dot[kRhsContractingDims])};
  return MakeGemmShape(dot.operand_shape(0), dot.operand_shape(1), dims, IsFullPrecision(dot));
}

std::optional<GemmShape> GemmOfCall(const Instruction& call, const ConfigJson& config) {
  if (call.operand_count() < 2) return std::nullopt;
  // Older dumps have the fields of gemm_backend_config at the top level.
  const ConfigJson* gemm_config = &config;
  for (const char* key : {"gemm_backend_config", "onednn_matmul_config"})
    if (config.contains(key)) gemm_config = &MemberOf(config, key);
  const ConfigJson& numbers = MemberOf(*gemm_config, "dot_dimension_numbers");
  if (numbers.empty()) return std::nullopt;
  const DotDims dims{DimsOf(MemberOf(numbers, "lhs_batch_dimensions")),
                     DimsOf(MemberOf(numbers, "lhs_contracting_dimensions")),
                     DimsOf(MemberOf(numbers, "rhs_contracting_dimensions"))};
  bool full_precision = false;
  for (const ConfigJson& precision : MemberOf(MemberOf(*gemm_config, "precision_config"), "operand_precision"))
    full_precision |= precision == "HIGHEST";
  return MakeGemmShape(call.operand_shape(0), call.operand_shape(1), dims, full_precision);
}

std::optional<GemmShape> GemmOfSizes(const Instruction& call) {
  if (call.operand_count() < 2 || !call.operand_shape(0).IsArray() || !call.operand_shape(1).IsArray()) return std::nullopt;
  const double lhs = ElementsOf(call.operand_shape(0)), rhs = ElementsOf(call.operand_shape(1)), result = ElementsOf(FirstElement(call.shape()));
  if (lhs <= 0 || rhs <= 0 || result <= 0) return std::nullopt;
  GemmShape gemm;
  gemm.k = std::max(1.0, ContractedSize(lhs, rhs, result));
  gemm.m = lhs / gemm.k, gemm.n = rhs / gemm.k;
  gemm.unit = UnitOf(call.operand_shape(0).element_type(), false);
  gemm.operand_bytes = BitWidth(call.operand_shape(0).element_type()) / 8.0;
  return gemm;
}

std::optional<ConvolutionShape> ConvolutionOf(const Instruction& hlo) {
  const ConvDims* dims = hlo[kDimLabels];
  if (dims == nullptr || hlo.operand_count() < 2) return std::nullopt;
  ConvolutionShape convolution;
  convolution.pass = PassOf(hlo);
  const Shape* output = &FirstElement(hlo.shape());
  const Shape* kernel = &hlo.operand_shape(1);
  if (convolution.pass == ConvolutionShape::Pass::kInput) output = &hlo.operand_shape(0);
  if (convolution.pass == ConvolutionShape::Pass::kFilter) std::swap(output, kernel);
  const auto rank = static_cast<size_t>(kernel->rank());
  if (!kernel->IsArray() || !output->IsArray() || rank != dims->kernel_spatial.size() + 2 ||
      rank != static_cast<size_t>(output->rank()))
    return std::nullopt;
  const auto outputs = static_cast<double>(kernel->dim(dims->kernel_output_feature));
  convolution.features = static_cast<double>(kernel->dim(dims->kernel_input_feature));
  const auto groups = static_cast<double>(std::max<int64_t>(1, hlo[kFeatureGroupCount]));
  const double positions = ElementsOf(*output) / std::max(1.0, outputs);
  const double taps = ElementsOf(*kernel) / std::max(1.0, outputs * convolution.features);
  GemmShape& gemm = convolution.gemm;
  gemm.batch = groups;
  gemm.m = positions, gemm.n = outputs / groups, gemm.k = taps * convolution.features;
  convolution.taps = taps;
  if (const Window* window = hlo[kWindow])
    for (const WindowDim& dim : window->dims) convolution.strided |= dim.stride > 1 || dim.base_dilation > 1;
  gemm.unit = UnitOf(hlo.operand_shape(0).element_type(), IsFullPrecision(hlo));
  gemm.operand_bytes = BitWidth(hlo.operand_shape(0).element_type()) / 8.0;
  return convolution;
}

std::optional<AttentionShape> AttentionOf(const Instruction& call, const ConfigJson& config) {
  AttentionShape attention;
  attention.backward = HasTrait(call, kGradient);
  if (call.operand_count() < 2 || !call.operand_shape(0).IsArray() || call.operand_shape(0).rank() < 2)
    return std::nullopt;
  const Shape& query = call.operand_shape(0);
  attention.head = static_cast<double>(query.dims().back());
  const ConfigJson& fmha = MemberOf(config, "cudnn_fmha_backend_config");
  const std::vector<double> dims = NumbersOf(MemberOf(MemberOf(fmha, "intermediate_tensor_shape"), "dimensions"));
  if (dims.size() == 4) {
    attention.batch = dims[0], attention.heads = dims[1], attention.queries = dims[2], attention.keys = dims[3];
    const ConfigJson& mask = MemberOf(fmha, "mask_type");
    attention.causal = mask.is_string() && mask.get<std::string>().find("CAUSAL") != std::string::npos;
    return attention;
  }
  if (query.rank() != 4 || call.operand_shape(1).rank() != 4) return std::nullopt;
  attention.batch = static_cast<double>(query.dim(0)), attention.queries = static_cast<double>(query.dim(1));
  attention.heads = static_cast<double>(query.dim(2));
  attention.keys = static_cast<double>(call.operand_shape(1).dim(1));
  // Mask types of Transformer Engine: 0 none, 1 padding, 2 causal, …. Types from 2 up mask about half of the elements.
  attention.causal = DictionaryNumber(call, "mask_type").value_or(0) >= 2;
  return attention;
}

}  // namespace shoal::internal
