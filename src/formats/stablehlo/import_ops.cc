// What all ops share: operands, results, and the import of ops that are one HLO op.
#include "core/ops/traits.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {

Diag Importer::Refused(const MlirOp& op, std::string message, Site site) {
  return Fail(op.at, "stablehlo.op", StrCat(op.name, ": ", message), site);
}

void Importer::Warn(const MlirOp& op, std::string_view rule, std::string message) {
  diags_.Warn(op.at, rule, StrCat(op.name, ": ", message));
}

Result<Instruction*> Importer::Operand(const MlirOp& op, size_t i) {
  if (i >= op.operands.size()) return Refused(op, StrCat("the op has no operand ", i));
  if (const MlirOp* owner = op.operands[i]->owner; owner != nullptr && IsMlirConstant(*owner)) {
    // A constant is made where it is used, also in a region, and has no source location.
    const MlirAttr* elements = owner->Find("value");
    if (elements == nullptr) return Refused(*owner, "a constant needs a value");
    builder_.SetOrigin(owner->at, nullptr);
    Result<Instruction*> constant = ConstantFor(*op.operands[i], *elements, owner->at);
    builder_.SetOrigin(op.at, locations_.MetadataOf(op.location));
    return constant;
  }
  Instruction* value = op.operands[i]->lowered;
  if (value == nullptr || value->parent != computation_)
    return Refused(op, StrCat("operand ", i, " is not defined in this region"));
  return value;
}

Result<Instruction*> Importer::ConstantFor(const MlirValue& value, const MlirAttr& elements, TextSpan at) {
  const auto known = constant_values_.find({computation_, &value});
  if (known != constant_values_.end()) return known->second;
  SHOAL_ASSIGN(made, ConstantOf(elements, at));
  constant_values_.emplace(std::pair(computation_, &value), made);
  return made;
}

Result<OperandList> Importer::Operands(const MlirOp& op) {
  OperandList operands;
  operands.reserve(op.operands.size());
  for (size_t i = 0; i < op.operands.size(); ++i) {
    SHOAL_ASSIGN(operand, Operand(op, i));
    operands.push_back(operand);
  }
  return operands;
}

Result<Instruction*> Importer::Add(Opcode opcode, std::span<Instruction* const> operands, const NamedAttrs& attrs,
                                   const Shape* shape) {
  if (common_.empty()) return builder_.Add(*computation_, opcode, operands, attrs, shape);
  NamedAttrs all = attrs;
  all.insert(all.end(), common_.begin(), common_.end());
  return builder_.Add(*computation_, opcode, operands, all, shape);
}

Instruction* Importer::AddTuple(std::span<Instruction* const> elements) { return builder_.Tuple(*computation_, elements); }

Instruction* Importer::AddElement(Instruction* tuple, int64_t index, bool with_attrs) {
  Instruction* element = builder_.GetTupleElement(*computation_, tuple, index);
  if (!with_attrs) return element;
  for (const NamedAttr& attr : common_) {
    const Sharding* const* sharding = std::get_if<const Sharding*>(&attr.value);
    if (sharding != nullptr && (*sharding)->kind == Sharding::Kind::kTuple) {
      const auto at = static_cast<size_t>(index);
      if (at < (*sharding)->elements.size())
        SetAttr(*element, module_, kSharding,
                static_cast<const Sharding*>(module_.arena.New<Sharding>((*sharding)->elements[at])));
      continue;
    }
    SetAttr(*element, module_, attr.id, attr.value);
  }
  return element;
}

Status Importer::SetResult(const MlirOp& op, Instruction* value) {
  if (op.results.size() != 1) return Refused(op, StrCat("the op has ", op.results.size(), " results, expected 1"));
  SHOAL_ASSIGN(declared, ShapeOf(*op.results[0].type, op.at));
  if (!Compatible(*declared, value->shape()) && !SameDims(*declared, value->shape()))
    return Fail(op.at, "shape.C1",
                StrCat("the inferred shape of ", op.name, " is ", Str(value->shape()), ", but ", Str(*declared),
                       " is declared"));
  op.results[0].lowered = value;
  return {};
}

Status Importer::SetResults(const MlirOp& op, Instruction* tuple) {
  return op.results.size() == 1 ? SetResult(op, tuple) : SetElements(op, tuple);
}

void Importer::Reset(const MlirOp& op) {
  builder_.SetOrigin(op.at, locations_.MetadataOf(op.location));
  const Status read = ReadCommonAttrs(op);
  SHOAL_CHECK(read.ok(), "the common attributes of an op have been read once without an error");
}

Status Importer::SetElements(const MlirOp& op, Instruction* tuple) {
  if (!tuple->shape().IsTuple() || tuple->shape().elements().size() < op.results.size())
    return Refused(op, StrCat("the op has ", op.results.size(), " results, but its value is ", Str(tuple->shape())));
  for (size_t i = 0; i < op.results.size(); ++i)
    op.results[i].lowered = AddElement(tuple, static_cast<int64_t>(i));
  return {};
}

Status Importer::ImportPlain(const MlirOp& op, std::span<Instruction* const> operands, const NamedAttrs& attrs) {
  const OpInfo& info = Info(op.info->opcode);
  NamedAttrs all = attrs;
  SHOAL_TRY(ConvertAttrs(op, all));
  SHOAL_ASSIGN(declared, ResultShape(op));
  SHOAL_ASSIGN(value, Add(op.info->opcode, operands, all, info.infers_shape ? nullptr : declared));
  return SetResults(op, value);
}

Status ImportPlain(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  return importer.ImportPlain(op, operands);
}

Status ImportUnsupported(Importer& importer, const MlirOp& op) { return importer.Refused(op, "HLO has no such op"); }
Status ImportNothing(Importer&, const MlirOp&) { return {}; }

// The results are the operands.
Status ImportForward(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.size() != op.results.size()) return importer.Refused(op, "the op must have as many results as operands");
  for (size_t i = 0; i < operands.size(); ++i) op.results[i].lowered = operands[i];
  return {};
}

Status Importer::ImportOp(const MlirOp& op) {
  builder_.SetOrigin(op.at, locations_.MetadataOf(op.location));
  if (op.info == nullptr) return Refused(op, "unknown op");
  SHOAL_TRY(ReadCommonAttrs(op));
  return op.info->import(*this, op);
}

}  // namespace shoal::internal
