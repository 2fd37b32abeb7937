// Dot products, convolutions and windows.
#include <algorithm>

#include "core/ops/contraction.h"
#include "core/ops/reduce.h"
#include "formats/stablehlo/dot_algorithms.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/exporter.h"

namespace shoal::internal {

using Kind = MlirAttr::Kind;

Status ExportDotGeneral(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  Exporter::Attrs attrs;
  if (const DotAlgorithm algorithm = hlo[kAlgorithm]; algorithm != DotAlgorithm::kUnset) {
    const std::string text = DotAlgorithmText(algorithm, hlo.operand_shape(0).element_type(), hlo.operand_shape(1).element_type());
    if (text.empty()) return exporter.Refused(hlo, "the attribute algorithm has no StableHLO form");
    attrs.push_back({"algorithm", exporter.TextAttr(Kind::kOpaque, text)});
  }
  const uint32_t handled[] = {kAlgorithm.id};
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

namespace {

using Member = int64_t WindowDim::*;

// A list with one number of each dimension of the window; left out if all are `fallback`.
void AddList(Exporter& exporter, const Window& window, std::string_view name, Member member, int64_t fallback,
             Exporter::Attrs& attrs) {
  std::vector<int64_t> values;
  for (const WindowDim& dim : window.dims) values.push_back(dim.*member);
  if (std::any_of(values.begin(), values.end(), [&](int64_t value) { return value != fallback; }))
    attrs.push_back({name, exporter.IntsAttr(values)});
}

void AddPadding(Exporter& exporter, const Window& window, Exporter::Attrs& attrs) {
  std::vector<std::vector<int64_t>> rows;
  bool padded = false;
  for (const WindowDim& dim : window.dims) {
    rows.push_back({dim.pad_low, dim.pad_high});
    padded |= dim.pad_low != 0 || dim.pad_high != 0;
  }
  if (padded) attrs.push_back({"padding", exporter.MatrixAttr(rows)});
}

}  // namespace

Status ExportConvolution(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  const ConvDims* dims = hlo[kDimLabels];
  if (dims == nullptr || operands.size() != 2) return exporter.Refused(hlo, "the op needs two operands and dim_labels");
  Exporter::Attrs attrs;
  auto number = [&](std::string_view name, int64_t value) {
    attrs.push_back({name, exporter.IntAttr(value, ElementType::kS64)});
  };
  number("input_batch_dimension", dims->input_batch);
  number("input_feature_dimension", dims->input_feature);
  number("kernel_input_feature_dimension", dims->kernel_input_feature);
  number("kernel_output_feature_dimension", dims->kernel_output_feature);
  number("output_batch_dimension", dims->output_batch);
  number("output_feature_dimension", dims->output_feature);
  attrs.push_back({"input_spatial_dimensions", exporter.ListAttr(dims->input_spatial)});
  attrs.push_back({"kernel_spatial_dimensions", exporter.ListAttr(dims->kernel_spatial)});
  attrs.push_back({"output_spatial_dimensions", exporter.ListAttr(dims->output_spatial)});
  if (const Window* window = hlo[kWindow]; window != nullptr) {
    AddList(exporter, *window, "window_strides", &WindowDim::stride, 1, attrs);
    AddPadding(exporter, *window, attrs);
    AddList(exporter, *window, "lhs_dilation", &WindowDim::base_dilation, 1, attrs);
    AddList(exporter, *window, "rhs_dilation", &WindowDim::window_dilation, 1, attrs);
    std::vector<bool> reversal;
    for (const WindowDim& dim : window->dims) reversal.push_back(dim.reversal);
    if (std::count(reversal.begin(), reversal.end(), true) > 0)
      attrs.push_back({"window_reversal", exporter.BoolsAttr(reversal)});
  }
  number("feature_group_count", hlo[kFeatureGroupCount]);
  number("batch_group_count", hlo[kBatchGroupCount]);
  const uint32_t handled[] = {kDimLabels.id, kWindow.id, kFeatureGroupCount.id, kBatchGroupCount.id};
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

// reduce-window and select-and-scatter.
Status ExportWindow(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  const Window* window = hlo[kWindow];
  const Window scalar;
  if (window == nullptr) window = &scalar;
  std::vector<int64_t> sizes;
  for (const WindowDim& dim : window->dims) {
    if (dim.reversal) return exporter.Refused(hlo, "a reversed window has no StableHLO form");
    sizes.push_back(dim.size);
  }
  Exporter::Attrs attrs{{"window_dimensions", exporter.IntsAttr(sizes)}};
  AddList(exporter, *window, "window_strides", &WindowDim::stride, 1, attrs);
  AddList(exporter, *window, "base_dilations", &WindowDim::base_dilation, 1, attrs);
  AddList(exporter, *window, "window_dilations", &WindowDim::window_dilation, 1, attrs);
  AddPadding(exporter, *window, attrs);
  const uint32_t handled[] = {kWindow.id};
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

}  // namespace shoal::internal
