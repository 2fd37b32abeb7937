// Dot products, convolutions and windows.
#include "core/ops/contraction.h"
#include "core/ops/reduce.h"
#include "formats/stablehlo/dot_algorithms.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {

Status ImportDot(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.size() != 2 || !operands[0]->shape().IsArray() || !operands[1]->shape().IsArray())
    return importer.Refused(op, "the op takes two arrays");
  if (operands[0]->shape().rank() == 0) return importer.Refused(op, "dot takes vectors and matrices");
  const int64_t lhs[] = {operands[0]->shape().rank() - 1};
  const int64_t rhs[] = {0};
  NamedAttrs attrs{{kLhsContractingDims.id, Ints(importer.arena().Copy(lhs))},
                               {kRhsContractingDims.id, Ints(importer.arena().Copy(rhs))}};
  SHOAL_TRY(importer.ConvertAttrs(op, attrs));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kDot, operands, attrs, shape));
  return importer.SetResult(op, value);
}

namespace {

// The algorithm that the types and numbers of #stablehlo.dot_algorithm describe.
Result<DotAlgorithm> AlgorithmOf(Importer& importer, const MlirOp& op) {
  auto type_of = [&](std::string_view name) -> std::string {
    const MlirAttr* attr = op.Find(name);
    if (attr == nullptr) return "";
    if (attr->kind == MlirAttr::Kind::kType && attr->type->kind == MlirType::Kind::kElement)
      return std::string(Text(attr->type->element));
    const std::string_view text = attr->kind == MlirAttr::Kind::kType ? attr->type->text : attr->text;
    if (text == "none") return "";
    return text.find("tf32") != text.npos || text == "TF32" ? "tf32" : std::string(text);
  };
  const std::string lhs = type_of("lhs_precision_type"), rhs = type_of("rhs_precision_type");
  const std::string sum = type_of("accumulation_type");
  if (lhs.empty()) return DotAlgorithm::kUnset;
  SHOAL_ASSIGN(ops, importer.IntOf(op, "num_primitive_operations", 1));
  const bool imprecise = importer.BoolAttr(op, "allow_imprecise_accumulation");
  const DotAlgorithm algorithm = DotAlgorithmOf(lhs, rhs, sum, ops, imprecise);
  if (algorithm != DotAlgorithm::kUnset) return algorithm;
  return importer.Refused(op, StrCat("HLO has no dot algorithm for ", lhs, ", ", rhs, " and ", sum));
}

}  // namespace

Status ImportDotGeneral(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  NamedAttrs attrs;
  SHOAL_TRY(importer.ConvertAttrs(op, attrs));
  SHOAL_ASSIGN(algorithm, AlgorithmOf(importer, op));
  if (algorithm != DotAlgorithm::kUnset)
    attrs.push_back({kAlgorithm.id, EnumValue{static_cast<uint8_t>(algorithm)}});
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kDot, operands, attrs, shape));
  return importer.SetResult(op, value);
}

// A window from the lists of an op. A list that is missing stands for ones, or zeros for padding.
Result<const Window*> Importer::WindowOf(const MlirOp& op, Ints sizes, const WindowNames& names, const MlirAttr* padding_attr) {
  SHOAL_ASSIGN(strides, IntsAttr(op, names.strides));
  SHOAL_ASSIGN(base, IntsAttr(op, names.base_dilation));
  SHOAL_ASSIGN(dilation, IntsAttr(op, names.window_dilation));
  SHOAL_ASSIGN(padding, IntsOf(op, padding_attr));
  SHOAL_ASSIGN(reversal, IntsAttr(op, "window_reversal"));
  const size_t rank = sizes.size();
  for (const Ints list : {strides, base, dilation, reversal})
    if (!list.empty() && list.size() != rank)
      return Refused(op, StrCat("the window has ", rank, " dimensions, but one of its lists has ", list.size()));
  if (!padding.empty() && padding.size() != 2 * rank)
    return Refused(op, StrCat("the window has ", rank, " dimensions, but the padding has ", padding.size(), " numbers"));
  const std::span<WindowDim> dims = module_.arena.NewSpan<WindowDim>(rank);
  for (size_t i = 0; i < rank; ++i) {
    WindowDim dim;
    dim.size = sizes[i];
    if (!strides.empty()) dim.stride = strides[i];
    if (!base.empty()) dim.base_dilation = base[i];
    if (!dilation.empty()) dim.window_dilation = dilation[i];
    if (!padding.empty()) dim.pad_low = padding[2 * i];
    if (!padding.empty()) dim.pad_high = padding[2 * i + 1];
    if (!reversal.empty()) dim.reversal = reversal[i] != 0;
    new (&dims[i]) WindowDim(dim);
  }
  return static_cast<const Window*>(module_.arena.New<Window>(Window{dims}));
}

Status ImportConvolution(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  // The third operand of dynamic_conv is the padding.
  const MlirAttr* padding = op.Find("padding");
  if (op.operands.size() == 3) {
    SHOAL_ASSIGN(value, ConstantOperand(importer, op, 2));
    padding = value;
    operands.pop_back();
  }
  if (operands.size() != 2 || !operands[1]->shape().IsArray()) return importer.Refused(op, "the op takes two arrays");
  ConvDims dims;
  struct Number {
    std::string_view name;
    int64_t* to;
  };
  const Number numbers[] = {{"input_batch_dimension", &dims.input_batch},
                            {"input_feature_dimension", &dims.input_feature},
                            {"kernel_input_feature_dimension", &dims.kernel_input_feature},
                            {"kernel_output_feature_dimension", &dims.kernel_output_feature},
                            {"output_batch_dimension", &dims.output_batch},
                            {"output_feature_dimension", &dims.output_feature}};
  for (const Number& number : numbers) {
    SHOAL_ASSIGN(value, importer.IntOf(op, number.name, -1));
    if (value < 0) return importer.Refused(op, StrCat("the op needs ", number.name));
    *number.to = value;
  }
  SHOAL_ASSIGN(input_spatial, importer.IntsAttr(op, "input_spatial_dimensions"));
  SHOAL_ASSIGN(kernel_spatial, importer.IntsAttr(op, "kernel_spatial_dimensions"));
  SHOAL_ASSIGN(output_spatial, importer.IntsAttr(op, "output_spatial_dimensions"));
  dims.input_spatial = input_spatial;
  dims.kernel_spatial = kernel_spatial;
  dims.output_spatial = output_spatial;
  std::vector<int64_t> sizes;
  for (const int64_t d : kernel_spatial) {
    if (d < 0 || d >= operands[1]->shape().rank()) return importer.Refused(op, "invalid kernel_spatial_dimensions");
    sizes.push_back(operands[1]->shape().dim(d));
  }
  SHOAL_ASSIGN(window, importer.WindowOf(op, sizes, {"window_strides", "lhs_dilation", "rhs_dilation"}, padding));
  SHOAL_ASSIGN(features, importer.IntOf(op, "feature_group_count", 1));
  SHOAL_ASSIGN(batches, importer.IntOf(op, "batch_group_count", 1));
  NamedAttrs attrs{{kWindow.id, window},
                               {kDimLabels.id, static_cast<const ConvDims*>(importer.arena().New<ConvDims>(dims))}};
  if (features != 1) attrs.push_back({kFeatureGroupCount.id, features});
  if (batches != 1) attrs.push_back({kBatchGroupCount.id, batches});
  SHOAL_TRY(importer.ConvertAttrs(op, attrs));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kConvolution, operands, attrs, shape));
  return importer.SetResult(op, value);
}

Status ImportReduceWindow(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(sizes, importer.IntsAttr(op, "window_dimensions"));
  SHOAL_ASSIGN(window, importer.WindowOf(op, sizes, {"window_strides", "base_dilations", "window_dilations"}, op.Find("padding")));
  return importer.ImportPlain(op, operands, {{kWindow.id, window}});
}

Status ImportSelectAndScatter(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(sizes, importer.IntsAttr(op, "window_dimensions"));
  SHOAL_ASSIGN(window, importer.WindowOf(op, sizes, {"window_strides", "base_dilations", "window_dilations"}, op.Find("padding")));
  return importer.ImportPlain(op, operands, {{kWindow.id, window}});
}

}  // namespace shoal::internal
