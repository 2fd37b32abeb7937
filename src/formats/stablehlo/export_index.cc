// Ops that move elements, and others whose attributes need a form of their own.
#include <algorithm>

#include "core/ops/elementwise.h"
#include "core/ops/gather_scatter.h"
#include "core/ops/index_ops.h"
#include "core/ops/random.h"
#include "core/ops/reduce.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/exporter.h"

namespace shoal::internal {

using Kind = MlirAttr::Kind;

Status ExportBroadcast(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  const uint32_t handled[] = {kDimensions.id};
  return exporter.ExportPlain(row, hlo, operands, {{"broadcast_dimensions", exporter.IntsAttr(hlo[kDimensions])}}, handled);
}

Status ExportSlice(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  constexpr auto& kSlice = Op<Opcode::kSlice>::kSlice;
  std::vector<int64_t> starts, limits, strides;
  for (const SliceRange& range : hlo[kSlice]) {
    starts.push_back(range.start);
    limits.push_back(range.limit);
    strides.push_back(range.stride);
  }
  const uint32_t handled[] = {kSlice.id};
  return exporter.ExportPlain(row, hlo, operands,
                              {{"start_indices", exporter.IntsAttr(starts)},
                               {"limit_indices", exporter.IntsAttr(limits)},
                               {"strides", exporter.IntsAttr(strides)}},
                              handled);
}

Status ExportPad(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  std::vector<int64_t> low, high, interior;
  for (const PaddingDim& dim : PaddingOf(hlo)) {
    low.push_back(dim.low);
    high.push_back(dim.high);
    interior.push_back(dim.interior);
  }
  const uint32_t handled[] = {Op<Opcode::kPad>::kPadding.id};
  return exporter.ExportPlain(row, hlo, operands,
                              {{"edge_padding_low", exporter.IntsAttr(low)},
                               {"edge_padding_high", exporter.IntsAttr(high)},
                               {"interior_padding", exporter.IntsAttr(interior)}},
                              handled);
}

// The sizes, one scalar each, become a vector.
Status ExportDynamicReshape(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, {}));
  auto vector_of = [&](const MlirType& scalar, int64_t size) {
    MlirType type = scalar;
    const int64_t dims[] = {size};
    type.dims = exporter.arena().Copy(dims);
    return static_cast<const MlirType*>(exporter.arena().New<MlirType>(type));
  };
  std::vector<MlirValue*> sizes;
  for (size_t i = 1; i < operands.size(); ++i) {
    MlirOp* size = exporter.Add(*FindMlirOp("stablehlo.reshape"), hlo, {&operands[i], 1}, {}, {vector_of(*operands[i]->type, 1)});
    sizes.push_back(&size->results[0]);
  }
  if (sizes.empty()) return exporter.Refused(hlo, "the op needs sizes");
  const MlirType* type = vector_of(*operands[1]->type, std::ssize(sizes));
  MlirOp* all = exporter.Add(*FindMlirOp("stablehlo.concatenate"), hlo, sizes,
                             {{"dimension", exporter.IntAttr(0, ElementType::kS64)}}, {type});
  MlirValue* const both[] = {operands[0], &all->results[0]};
  return exporter.ExportPlain(row, hlo, both, {});
}

Status ExportDimensionSize(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  if (hlo.shape().element_type() != ElementType::kS32) return exporter.Refused(hlo, "StableHLO's sizes are s32");
  return ExportPlain(exporter, row, hlo);
}

namespace {

// Attributes of a gather, scatter or ragged dot: those of the dimensions are fields of one attribute.
Status ExportWithDimensions(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo, std::string_view name,
                            std::string_view kind) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  SHOAL_TRY(exporter.ExportPlain(row, hlo, operands, {}));
  // The op was added with all attributes side by side.
  MlirOp* op = exporter.last_op();
  Exporter::Attrs attrs, fields;
  for (const MlirNamedAttr& attr : op->attrs) {
    const bool is_size = attr.name == GatherOp::kSliceSizes.name;
    const bool is_field = (attr.value->kind == Kind::kInts && !is_size) || attr.name == kIndexVectorDim.name;
    if (!is_field) {
      attrs.push_back(attr);
    } else if (attr.value->kind == Kind::kInt) {
      fields.push_back({attr.name, exporter.TextAttr(Kind::kOpaque, std::to_string(attr.value->number))});
    } else if (!attr.value->ints.empty()) {
      fields.push_back({attr.name, exporter.ListAttr(attr.value->ints)});
    }
  }
  // MLIR's parser wants index_vector_dim last.
  std::stable_partition(fields.begin(), fields.end(),
                        [](const MlirNamedAttr& field) { return field.name != kIndexVectorDim.name; });
  attrs.insert(attrs.begin(), {name, exporter.DictionaryAttr(kind, fields)});
  op->attrs = exporter.arena().Copy(attrs);
  return {};
}

}  // namespace

Status ExportGather(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  return ExportWithDimensions(exporter, row, hlo, "dimension_numbers", "stablehlo.gather");
}

Status ExportRaggedDot(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  return ExportWithDimensions(exporter, row, hlo, "ragged_dot_dimension_numbers", "chlo.ragged_dot");
}

Status ExportScatter(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  return ExportWithDimensions(exporter, row, hlo, "scatter_dimension_numbers", "stablehlo.scatter");
}

// StableHLO states the type of the comparison, HLO only if it is not that of the operands.
Status ExportCompare(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  using CompareOp = Op<Opcode::kCompare>;
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  auto text_of = [](const auto& key, const Instruction& compare) {
    const AttrDef* def = FindAttr(compare.opcode, key.id);
    return def->enum_names[static_cast<size_t>(compare[key])];
  };
  const ElementType type = hlo.operand_shape(0).element_type();
  const std::string_view natural = IsFloat(type) || IsComplex(type) ? "FLOAT" : IsSigned(type) ? "SIGNED" : "UNSIGNED";
  const std::string_view compared = hlo.has(CompareOp::kType) ? text_of(CompareOp::kType, hlo) : natural;
  const uint32_t handled[] = {CompareOp::kDirection.id, CompareOp::kType.id, CompareOp::kOrder.id};
  return exporter.ExportPlain(
      row, hlo, operands,
      {{"comparison_direction",
        exporter.TextAttr(Kind::kOpaque, StrCat("#stablehlo<comparison_direction ", text_of(CompareOp::kDirection, hlo), ">"))},
       {"compare_type", exporter.TextAttr(Kind::kOpaque, StrCat("#stablehlo<comparison_type ", compared, ">"))}},
      handled);
}

// The shape of the result is an operand.
Status ExportRng(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  if (operands.size() != 2 || !hlo.shape().IsArray()) return exporter.Refused(hlo, "the op takes two operands");
  const Ints dims = hlo.shape().dims();
  MlirType type;
  type.kind = MlirType::Kind::kTensor;
  type.element = ElementType::kS64;
  const int64_t rank[] = {hlo.shape().rank()};
  type.dims = exporter.arena().Copy(rank);
  MlirAttr* value = exporter.NewAttr(Kind::kDense);
  value->type = exporter.arena().New<MlirType>(type);
  value->data = exporter.arena().Copy(std::as_bytes(dims));
  MlirOp* shape = exporter.Add(*FindMlirOp("stablehlo.constant"), hlo, {}, {{"value", value}}, {value->type});
  operands.push_back(&shape->results[0]);
  return exporter.ExportPlain(row, hlo, operands, {});
}

// The sizes of the segments: inputs and initial carries, outputs and carries.
Status ExportScan(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  using Scan = Op<Opcode::kScan>;
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  SHOAL_ASSIGN(types, exporter.ResultTypes(hlo.shape()));
  const int64_t carries = hlo[Scan::kNumCarries];
  if (hlo[kDimensions].size() != 1 || carries < 0) return exporter.Refused(hlo, "the op needs one dimension");
  const int64_t in[] = {std::ssize(operands) - carries, carries}, out[] = {std::ssize(types) - carries, carries};
  const uint32_t handled[] = {kDimensions.id, Scan::kNumCarries.id};
  return exporter.ExportPlain(row, hlo, operands,
                              {{"dimension", exporter.IntAttr(hlo[kDimensions][0], ElementType::kS64)},
                               {"operandSegmentSizes", exporter.IntsAttr(in, ElementType::kS32)},
                               {"resultSegmentSizes", exporter.IntsAttr(out, ElementType::kS32)}},
                              handled);
}

Status ExportTopK(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  using TopK = Op<Opcode::kTopK>;
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  if (!TakesLargest(hlo)) return exporter.Refused(hlo, "StableHLO has only the largest elements");
  const uint32_t handled[] = {TopK::kK.id, TopK::kLargest.id, TopK::kStable.id};
  Exporter::Attrs attrs{{"k", exporter.IntAttr(hlo[TopK::kK], ElementType::kS64)}};
  if (!hlo[TopK::kStable]) attrs.push_back({"is_stable", exporter.BoolAttr(false)});
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

}  // namespace shoal::internal
