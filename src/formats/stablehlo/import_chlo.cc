// CHLO: ops that XLA expands when it reads them.
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {

Status ImportChloSquare(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kMultiply, {x, x}));
  return importer.SetResult(op, value);
}

Status ImportChloAtan(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  SHOAL_ASSIGN(one, importer.ConstantLike(*x, 1));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kAtan2, {x, one}));
  return importer.SetResult(op, value);
}

Status ImportChloConj(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  SHOAL_ASSIGN(real, importer.Add(Opcode::kReal, {x}));
  SHOAL_ASSIGN(imag, importer.Add(Opcode::kImag, {x}));
  SHOAL_ASSIGN(negated, importer.Add(Opcode::kNegate, {imag}));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kComplex, {real, negated}));
  return importer.SetResult(op, value);
}

Status ImportChloConstantLike(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  const MlirAttr* value = op.Find("value");
  if (value == nullptr) return importer.Refused(op, "the op needs a value");
  const double number = value->kind == MlirAttr::Kind::kFloat ? value->real : static_cast<double>(value->number);
  SHOAL_ASSIGN(constant, importer.ConstantLike(*x, number));
  return importer.SetResult(op, constant);
}

// is_inf: |x| == inf; is_pos_inf: x == inf; is_neg_inf: x == -inf.
Status ImportChloIsInf(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  const bool negative = op.name == "chlo.is_neg_inf";
  if (op.name == "chlo.is_inf") {
    SHOAL_ASSIGN(magnitude, importer.Add(Opcode::kAbs, {x}));
    x = magnitude;
  }
  SHOAL_ASSIGN(infinity, importer.ConstantLike(*x, negative ? -HUGE_VAL : HUGE_VAL));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kCompare, {x, infinity},
                                   {{Op<Opcode::kCompare>::kDirection.id,
                                     EnumValue{static_cast<uint8_t>(ComparisonDirection::kEq)}}}));
  return importer.SetResult(op, value);
}

Result<Instruction*> Importer::ConstantLike(const Instruction& like, double value) {
  if (!like.shape().IsArray()) return Fail(like.at, "stablehlo.op", "the op takes arrays");
  return AddSplat(*module_.shapes.WithDefaultLayout(like.shape()), value);
}

namespace {

// chlo.broadcast_zeta is chlo.zeta of the broadcast operands.
Status ImportOfBroadcast(Importer& importer, const MlirOp& op, std::span<Instruction* const> operands) {
  constexpr std::string_view kPrefix = "chlo.broadcast_";
  const MlirOpInfo* plain = FindMlirOp(StrCat("chlo.", op.name.substr(kPrefix.size())));
  SHOAL_CHECK(plain != nullptr, "every broadcast_ op has a row without the prefix");
  std::vector<MlirValue> values(operands.size());
  std::vector<MlirValue*> pointers;
  for (size_t i = 0; i < operands.size(); ++i) {
    values[i].type = op.results[0].type;
    values[i].lowered = operands[i];
    pointers.push_back(&values[i]);
  }
  MlirOp inner = op;
  inner.info = plain;
  inner.name = plain->name;
  inner.operands = pointers;
  return plain->import(importer, inner);
}

}  // namespace

// Numpy's broadcasting: operands of fewer dimensions align with the last dimensions of the result.
Status ImportChloBroadcast(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(given, importer.IntsAttr(op, "broadcast_dimensions"));
  for (Instruction*& operand : operands) {
    if (!operand->shape().IsArray() || !shape->IsArray()) return importer.Refused(op, "the op takes arrays");
    if (SameDims(operand->shape(), *shape)) continue;
    std::vector<int64_t> dimensions(given.begin(), given.end());
    const int rank = operand->shape().rank();
    if (static_cast<int>(dimensions.size()) != rank) {
      dimensions.clear();
      for (int i = 0; i < rank; ++i) dimensions.push_back(shape->rank() - rank + i);
    }
    const Shape* wide = importer.module().shapes.WithType(*shape, operand->shape().element_type());
    SHOAL_ASSIGN(broadcast, importer.BroadcastInDim(op, operand, *wide, dimensions));
    operand = broadcast;
  }
  if (op.info->opcode == Opcode::kUnknown) return ImportOfBroadcast(importer, op, operands);
  NamedAttrs attrs;
  if (const MlirAttr* direction = op.Find("comparison_direction")) {
    const AttrDef* def = FindAttr(Opcode::kCompare, Op<Opcode::kCompare>::kDirection.id);
    attrs.push_back({def->id, false});
    SHOAL_TRY(importer.ConvertAttr(op, *def, *direction, &attrs.back().value));
  }
  return importer.ImportPlain(op, operands, attrs);
}

// The k largest elements of the last dimension, and their indices.
Status ImportTopK(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(k, importer.IntOf(op, "k", 0));
  using TopK = Op<Opcode::kTopK>;
  NamedAttrs attrs{{TopK::kK.id, k}, {TopK::kLargest.id, importer.BoolAttr(op, "largest", true)}};
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kTopK, {operand}, attrs, shape));
  return importer.SetResults(op, value);
}

// The operands are the inputs, then the initial carries.
Status ImportChloScan(Importer& importer, const MlirOp& op) {
  using Scan = Op<Opcode::kScan>;
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(dimension, importer.IntOf(op, "dimension", 0));
  SHOAL_ASSIGN(segments, importer.IntsAttr(op, "operandSegmentSizes"));
  if (segments.size() != 2 || segments[1] < 0 || segments[1] > static_cast<int64_t>(operands.size()))
    return importer.Refused(op, "operandSegmentSizes must have the numbers of inputs and of initial carries");
  const int64_t dimensions[] = {dimension};
  NamedAttrs attrs{{kDimensions.id, Ints(importer.arena().Copy(dimensions))}, {Scan::kNumCarries.id, segments[1]}};
  return importer.ImportPlain(op, operands, attrs);
}

}  // namespace shoal::internal
