// Constants, and ops that move elements.
#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/elementwise.h"
#include "core/ops/gather_scatter.h"
#include "core/ops/index_ops.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {

Result<Instruction*> Importer::Broadcast(Instruction* operand, const Shape& shape, std::span<const int64_t> dimensions) {
  return Add(Opcode::kBroadcast, {operand}, {{kDimensions.id, Ints(module_.arena.Copy(dimensions))}}, &shape);
}

namespace {

// The bits of the only value of the elements; nullptr if they differ.
const std::byte* SplatValue(const MlirAttr& dense, int64_t count, int64_t bytes) {
  if (dense.splat) return dense.data.data();
  if (dense.elided || count < 2 || std::ssize(dense.data) != count * bytes) return nullptr;
  const bool equal = std::equal(dense.data.begin() + bytes, dense.data.end(), dense.data.begin());
  return equal ? dense.data.data() : nullptr;
}

}  // namespace

// Constants are made at their uses.
Status ImportConstant(Importer& importer, const MlirOp& op) {
  const MlirAttr* value = op.Find("value");
  if (value == nullptr || op.results.size() != 1) return importer.Refused(op, "a constant needs a value");
  return {};
}

// A constant of equal elements is a scalar constant that is broadcast.
Result<Instruction*> Importer::ConstantOf(const MlirAttr& value, TextSpan at) {
  if (value.kind != MlirAttr::Kind::kDense || value.type == nullptr)
    return Fail(at, "stablehlo.constant", "a constant needs the elements of a tensor, dense<…>");
  SHOAL_ASSIGN(shape, ShapeOf(*value.type, at));
  const int64_t count = ElementCountOf(*shape);
  const bool is_plain = shape->IsArray() && !shape->has_dynamic() && shape->rank() > 0 && count > 1;
  const std::byte* splat = is_plain ? SplatValue(value, count, StorageBytes(shape->element_type())) : nullptr;
  if (splat != nullptr) return SplatConstant(*shape, splat);
  SHOAL_ASSIGN(literal, LiteralOf(value, at));
  return shape->IsScalar() && !literal->elided ? SplatConstant(*shape, literal->data.data()) : AddConstant(literal);
}

// An array of equal elements. A computation has each of them once.
Result<Instruction*> Importer::SplatConstant(const Shape& shape, const std::byte* element) {
  const auto bytes = static_cast<size_t>(StorageBytes(shape.element_type()));
  const ConstantKey key{computation_, &shape, std::string(reinterpret_cast<const char*>(element), bytes)};
  if (const auto known = constants_.find(key); known != constants_.end()) return known->second;
  Literal literal;
  literal.shape = module_.shapes.Scalar(shape.element_type());
  literal.data = module_.arena.Copy(std::span(element, bytes));
  Instruction* value = AddConstant(module_.arena.New<Literal>(literal));
  if (!shape.IsScalar()) {
    const NamedAttr dimensions{kDimensions.id, Ints()};
    Instruction* const operands[] = {value};
    SHOAL_ASSIGN(broadcast, builder_.Add(*computation_, Opcode::kBroadcast, operands, {&dimensions, 1}, &shape));
    value = broadcast;
  }
  constants_.emplace(key, value);
  return value;
}

// broadcast puts the new dimensions before those of the operand.
Status ImportBroadcastMajor(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  if (!operand->shape().IsArray() || !shape->IsArray() || shape->rank() < operand->shape().rank())
    return importer.Refused(op, "the result must have more dimensions than the operand");
  std::vector<int64_t> dimensions;
  for (int i = shape->rank() - operand->shape().rank(); i < shape->rank(); ++i) dimensions.push_back(i);
  SHOAL_ASSIGN(value, importer.Broadcast(operand, *shape, dimensions));
  return importer.SetResult(op, value);
}

// Dimensions of size 1 that grow need a reshape: HLO broadcasts keep the sizes of the operand's dimensions.
Result<Instruction*> Importer::BroadcastInDim(const MlirOp& op, Instruction* operand, const Shape& shape,
                                              std::span<const int64_t> dimensions) {
  const Shape& from = operand->shape();
  if (!from.IsArray() || !shape.IsArray() || static_cast<int>(dimensions.size()) != from.rank())
    return Refused(op, StrCat("the op needs one broadcast dimension per dimension of ", Str(from), ", got ",
                              ToString(Ints(dimensions))));
  absl::InlinedVector<int64_t, 8> sizes(shape.dims().begin(), shape.dims().end()), kept_sizes, kept;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= shape.rank())
      return Refused(op, StrCat("broadcast dimensions must lie in [0, ", shape.rank(), ")"));
    sizes[static_cast<size_t>(dimensions[i])] = from.dim(static_cast<int64_t>(i));
  }
  const Shape* in_dim = module_.shapes.Array(shape.element_type(), sizes, shape.dynamic_dims(),
                                             module_.shapes.DefaultLayout(sizes.size()));
  SHOAL_ASSIGN(placed, Broadcast(operand, *in_dim, dimensions));
  if (SameDims(*in_dim, shape)) return placed;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (sizes[static_cast<size_t>(i)] == shape.dim(i)) {
      kept.push_back(i);
      kept_sizes.push_back(shape.dim(i));
    } else if (sizes[static_cast<size_t>(i)] != 1) {
      return Refused(op, StrCat("cannot broadcast ", Str(from), " to ", Str(shape)));
    }
  }
  SHOAL_ASSIGN(squeezed, Add(Opcode::kReshape, {placed}, {}, module_.shapes.Array(shape.element_type(), kept_sizes)));
  return Broadcast(squeezed, shape, kept);
}

Status ImportBroadcastInDim(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(dimensions, importer.IntsAttr(op, "broadcast_dimensions"));
  SHOAL_ASSIGN(value, importer.BroadcastInDim(op, operand, *shape, dimensions));
  return importer.SetResult(op, value);
}

// A dynamic op whose result is static does not need the operand that gives the sizes.
Status ImportStaticBroadcast(Importer& importer, const MlirOp& op) { return ImportBroadcastInDim(importer, op); }

Status ImportStaticIota(Importer& importer, const MlirOp& op) { return importer.ImportPlain(op, {}); }

// select and clamp of arrays may have scalar operands, which HLO broadcasts.
Status ImportBroadcastScalars(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  for (Instruction*& operand : operands) {
    if (!operand->shape().IsScalar() || !shape->IsArray() || shape->rank() == 0) continue;
    const Shape* wide = importer.module().shapes.WithType(*shape, operand->shape().element_type());
    SHOAL_ASSIGN(broadcast, importer.Broadcast(operand, *wide, {}));
    operand = broadcast;
  }
  return importer.ImportPlain(op, operands);
}

Status ImportConvert(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  if (!shape->IsArray() || !operand->shape().IsArray()) return importer.Refused(op, "the op converts arrays");
  // The conversion of a complex number is that of its real part.
  if (IsComplex(operand->shape().element_type()) && !IsComplex(shape->element_type())) {
    SHOAL_ASSIGN(real, importer.Add(Opcode::kReal, {operand}));
    operand = real;
  }
  // Conversion keeps the layout of its operand.
  const Shape* kept = importer.module().shapes.WithType(operand->shape(), shape->element_type());
  SHOAL_ASSIGN(value, importer.Add(Opcode::kConvert, {operand}, {}, kept));
  return importer.SetResult(op, value);
}

Status ImportCompare(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  using CompareOp = Op<Opcode::kCompare>;
  NamedAttrs attrs;
  const AttrDef* direction = FindAttr(Opcode::kCompare, CompareOp::kDirection.id);
  const MlirAttr* given = op.Find("comparison_direction");
  if (given == nullptr) return importer.Refused(op, "the op needs a comparison_direction");
  attrs.push_back({direction->id, false});
  SHOAL_TRY(importer.ConvertAttr(op, *direction, *given, &attrs.back().value));
  // The type is given only where it is not the default of the operands.
  const MlirAttr* type = op.Find("compare_type");
  if (type != nullptr && type->text == "TOTALORDER") {
    const AttrDef* def = FindAttr(Opcode::kCompare, CompareOp::kType.id);
    attrs.push_back({def->id, false});
    SHOAL_TRY(importer.ConvertAttr(op, *def, *type, &attrs.back().value));
  }
  return importer.ImportPlain(op, operands, attrs);
}

Result<std::span<const PaddingDim>> Importer::PaddingOf(const MlirOp& op, Ints low, Ints high, Ints interior) {
  if (low.size() != high.size() || (low.size() != interior.size() && !interior.empty()))
    return Refused(op, "the lists of padding must have the same length");
  std::vector<PaddingDim> dims(low.size());
  for (size_t i = 0; i < low.size(); ++i)
    dims[i] = {low[i], high[i], interior.empty() ? 0 : interior[i]};
  return std::span<const PaddingDim>(module_.arena.Copy(dims));
}

Status ImportPad(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(low, importer.IntsAttr(op, "edge_padding_low"));
  SHOAL_ASSIGN(high, importer.IntsAttr(op, "edge_padding_high"));
  SHOAL_ASSIGN(interior, importer.IntsAttr(op, "interior_padding"));
  SHOAL_ASSIGN(padding, importer.PaddingOf(op, low, high, interior));
  return importer.ImportPlain(op, operands, {{Op<Opcode::kPad>::kPadding.id, padding}});
}

Status Importer::ImportSliceOf(const MlirOp& op, Ints starts, Ints limits, Ints strides) {
  SHOAL_ASSIGN(operand, Operand(op, 0));
  SHOAL_ASSIGN(shape, ResultShape(op));
  if (starts.size() != limits.size() || starts.size() != strides.size())
    return Refused(op, "the lists of a slice must have the same length");
  std::vector<SliceRange> ranges(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) ranges[i] = {starts[i], limits[i], strides[i]};
  const std::span<const SliceRange> copy = module_.arena.Copy(ranges);
  // A slice keeps the layout of its operand.
  if (operand->shape().IsArray() && shape->IsArray() && operand->shape().rank() == shape->rank())
    shape = module_.shapes.WithLayout(*shape, operand->shape().layout());
  SHOAL_ASSIGN(value, Add(Opcode::kSlice, {operand}, {{Op<Opcode::kSlice>::kSlice.id, copy}}, shape));
  return SetResult(op, value);
}

Status ImportSlice(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(starts, importer.IntsAttr(op, "start_indices"));
  SHOAL_ASSIGN(limits, importer.IntsAttr(op, "limit_indices"));
  SHOAL_ASSIGN(strides, importer.IntsAttr(op, "strides"));
  return importer.ImportSliceOf(op, starts, limits, strides);
}

Status ImportSetDimensionSize(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  return importer.ImportPlain(op, operands);
}

// dynamic-reshape takes one scalar per dimension. A static result needs none.
Status ImportDynamicReshape(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  if (!shape->IsArray()) return importer.Refused(op, "the op needs an array");
  if (!shape->has_dynamic()) {
    SHOAL_ASSIGN(value, importer.Add(Opcode::kReshape, {operand}, {}, shape));
    return importer.SetResult(op, value);
  }
  for (const int64_t dim : shape->dims())
    if (dim == kUnboundedSize) return importer.Refused(op, "unbounded dimensions are not supported");
  SHOAL_ASSIGN(sizes, importer.Operand(op, 1));
  if (!sizes->shape().IsArray() || sizes->shape().rank() != 1 || sizes->shape().dim(0) != shape->rank())
    return importer.Refused(op, "the op needs one size per dimension");
  std::vector<Instruction*> operands{operand};
  const ElementType type = sizes->shape().element_type();
  ShapePool& shapes = importer.module().shapes;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const SliceRange range[] = {{i, i + 1, 1}};
    const std::span<const SliceRange> copy = importer.arena().Copy(range);
    const int64_t one[] = {1};
    SHOAL_ASSIGN(slice, importer.Add(Opcode::kSlice, {sizes}, {{Op<Opcode::kSlice>::kSlice.id, copy}},
                                     shapes.Array(type, one)));
    SHOAL_ASSIGN(scalar, importer.Add(Opcode::kReshape, {slice}, {}, shapes.Scalar(type)));
    operands.push_back(scalar);
  }
  SHOAL_ASSIGN(value, importer.Add(Opcode::kDynamicReshape, operands, {}, shape));
  return importer.SetResult(op, value);
}

Result<const MlirAttr*> ConstantOperand(Importer& importer, const MlirOp& op, size_t i) {
  const MlirOp* owner = i < op.operands.size() ? op.operands[i]->owner : nullptr;
  const MlirAttr* value = owner == nullptr || !IsMlirConstant(*owner) ? nullptr : owner->Find("value");
  if (value == nullptr)
    return importer.Refused(op, StrCat("operand ", i, " must be a constant; HLO has no dynamic form of this op"));
  return value;
}

namespace {

Result<Ints> ConstantInts(Importer& importer, const MlirOp& op, size_t i) {
  SHOAL_ASSIGN(value, ConstantOperand(importer, op, i));
  return importer.IntsOf(op, value);
}

}  // namespace

Status ImportStaticPad(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.size() != 5) return importer.Refused(op, "the op takes 5 operands");
  SHOAL_ASSIGN(low, ConstantInts(importer, op, 2));
  SHOAL_ASSIGN(high, ConstantInts(importer, op, 3));
  SHOAL_ASSIGN(interior, ConstantInts(importer, op, 4));
  SHOAL_ASSIGN(padding, importer.PaddingOf(op, low, high, interior));
  return importer.ImportPlain(op, std::span(operands).first(2), {{Op<Opcode::kPad>::kPadding.id, padding}});
}

Status ImportStaticSlice(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(starts, ConstantInts(importer, op, 1));
  SHOAL_ASSIGN(limits, ConstantInts(importer, op, 2));
  SHOAL_ASSIGN(strides, ConstantInts(importer, op, 3));
  return importer.ImportSliceOf(op, starts, limits, strides);
}

Status ImportStaticGather(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.size() != 3) return importer.Refused(op, "the op takes 3 operands");
  SHOAL_ASSIGN(sizes, ConstantInts(importer, op, 2));
  NamedAttrs attrs;
  for (const auto& key : {GatherOp::kOffsetDims, GatherOp::kCollapsedSliceDims, GatherOp::kStartIndexMap}) {
    SHOAL_ASSIGN(ints, importer.IntsAttr(op, key.name));
    attrs.push_back({key.id, ints});
  }
  for (const auto& key : {GatherOp::kOperandBatchingDims, GatherOp::kStartIndicesBatchingDims}) {
    SHOAL_ASSIGN(ints, importer.IntsAttr(op, key.name));
    if (!ints.empty()) attrs.push_back({key.id, ints});
  }
  SHOAL_ASSIGN(vector_dim, importer.IntOf(op, "index_vector_dim", 0));
  attrs.push_back({kIndexVectorDim.id, vector_dim});
  attrs.push_back({GatherOp::kSliceSizes.id, sizes});
  if (importer.BoolAttr(op, "indices_are_sorted")) attrs.push_back({kIndicesAreSorted.id, true});
  return importer.ImportPlain(op, std::span(operands).first(2), attrs);
}

// result[batch, index…, rest] = operand[batch, indices[…], rest] along `dim`, after `batch_dims` shared dimensions.
Status ImportIndexSelect(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(dim, importer.IntOf(op, "dim", 0));
  SHOAL_ASSIGN(batch, importer.IntOf(op, "batch_dims", 0));
  if (operands.size() != 2 || !operands[0]->shape().IsArray() || !operands[1]->shape().IsArray())
    return importer.Refused(op, "the op takes two arrays");
  const Shape& data = operands[0]->shape();
  const Shape& index = operands[1]->shape();
  if (dim < batch || dim >= data.rank() || batch < 0 || batch > index.rank())
    return importer.Refused(op, StrCat("dim must lie in [", batch, ", ", data.rank(), ")"));
  std::vector<int64_t> offset, batching, sizes(data.dims().begin(), data.dims().end());
  for (int64_t i = 0; i < batch; ++i) {
    batching.push_back(i);
    sizes[static_cast<size_t>(i)] = 1;
  }
  sizes[static_cast<size_t>(dim)] = 1;
  for (int64_t i = batch; i < data.rank(); ++i) {
    if (i < dim) offset.push_back(i);
    if (i > dim) offset.push_back(i - 1 + index.rank() - batch);
  }
  const int64_t one[] = {dim};
  Arena& arena = importer.arena();
  NamedAttrs attrs{{GatherOp::kOffsetDims.id, Ints(arena.Copy(offset))},
                               {GatherOp::kCollapsedSliceDims.id, Ints(arena.Copy(one))},
                               {GatherOp::kStartIndexMap.id, Ints(arena.Copy(one))}};
  if (batch > 0) {
    attrs.push_back({GatherOp::kOperandBatchingDims.id, Ints(arena.Copy(batching))});
    attrs.push_back({GatherOp::kStartIndicesBatchingDims.id, Ints(arena.Copy(batching))});
  }
  attrs.push_back({kIndexVectorDim.id, static_cast<int64_t>(index.rank())});
  attrs.push_back({GatherOp::kSliceSizes.id, Ints(arena.Copy(sizes))});
  return importer.ImportPlain(op, operands, attrs);
}

}  // namespace shoal::internal
