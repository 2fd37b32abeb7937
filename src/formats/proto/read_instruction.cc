
#include "core/base/strings.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"
#include "formats/proto/attr_fields.h"
#include "formats/proto/detect.h"
#include "formats/proto/module_reader.h"
#include "formats/proto/auto_upgrade.h"

namespace shoal::internal {
namespace {

// Returns a copy of `literal` with a shape that differs only in its layouts.
const Literal* WithShape(Module& module, const Literal& literal, const Shape& shape) {
  Literal* copy = module.arena.New<Literal>(literal);
  copy->shape = &shape;
  std::span<const Literal*> elements = module.arena.NewSpan<const Literal*>(literal.elements.size());
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = WithShape(module, *literal.elements[i], *shape.elements()[i]);
  copy->elements = elements;
  return copy;
}

}  // namespace

Result<Instruction*> ModuleReader::ReadInstruction(proto::HloInstructionProto& from, Computation& computation) {
  AutoUpgrade(from);
  if (from.name().empty()) return Fail("an instruction has no name");
  if (!from.has_shape()) return Fail("the instruction has no shape");
  Instruction draft;
  std::vector<NamedAttr> attrs;
  SHOAL_TRY(ReadOpcode(from, draft, attrs));
  SHOAL_ASSIGN(shape, ReadShape(module_, from.shape()));
  draft.shape_ = shape;
  SHOAL_TRY(ReadLinks(from));
  if (depends_on_broken_) return nullptr;
  const int arity = Info(draft.opcode).arity;
  if (arity >= 0 && std::ssize(operands_) != arity)
    return Fail(
        StrCat(from.opcode(), " takes ", arity, arity == 1 ? " operand" : " operands", ", found ", operands_.size()));
  const std::string& written = from.shoal().written_name();
  draft.name = module_.arena.CopyString(written.empty() ? from.name() : written);
  has_written_names_ |= !written.empty();
  draft.operands = module_.arena.Copy(operands_);
  SHOAL_TRY(ReadInParentheses(from, draft, attrs));
  SHOAL_TRY(ReadAttributes(from, draft, attrs));
  draft.attrs = module_.arena.Copy(attrs);

  Instruction* hlo = module_.NewInstruction(computation);
  draft.parent = hlo->parent;
  draft.index = hlo->index;
  *hlo = draft;
  if (Status formed = Normalize(*hlo); !formed.ok()) {
    computation.instructions.pop_back();
    return std::move(formed.diag());
  }
  return hlo;
}

Status ModuleReader::ReadOpcode(const proto::HloInstructionProto& from, Instruction& draft,
                                std::vector<NamedAttr>& attrs) {
  if (from.opcode().empty()) return Fail("the instruction has no opcode");
  if (!IsOpcodeName(from.opcode())) return Fail("the opcode must consist of letters, digits, '-' and '_'");
  draft.opcode = OpcodeOf(from.opcode());
  if (!IsUnknown(draft)) return {};
  std::string message = StrCat("unknown HLO op ", from.opcode());
  if (strict_) return Fail({}, "loose.opcode", std::move(message));
  TolerateDeviation("loose.opcode", std::move(message));
  attrs.push_back({kUnknownOpcode.id, module_.arena.CopyString(from.opcode())});
  return {};
}

Result<Instruction*> ModuleReader::Find(int64_t id, const char* role) {
  auto found = numbered_->find(LocalId(id));
  if (found == numbered_->end()) return Fail(StrCat(role, " id ", id, " does not exist"));
  // XLA requires operands before users in a message. If not strict, they have been sorted, unless they form a cycle.
  if (found->second.state == Numbered::State::kUnread) return Fail(StrCat(role, " id ", id, " must precede its user"));
  depends_on_broken_ |= found->second.state == Numbered::State::kBroken;
  return found->second.hlo;
}

// Resolves the ids in the instruction: operands, control predecessors, called computations.
Status ModuleReader::ReadLinks(const proto::HloInstructionProto& from) {
  operands_.clear();
  control_predecessors_.clear();
  called_.clear();
  depends_on_broken_ = false;
  for (int64_t id : from.operand_ids()) {
    SHOAL_ASSIGN(operand, Find(id, "operand"));
    operands_.push_back(operand);
  }
  for (int64_t id : from.control_predecessor_ids()) {
    SHOAL_ASSIGN(predecessor, Find(id, "control predecessor"));
    control_predecessors_.push_back(predecessor);
  }
  for (int64_t id : from.called_computation_ids()) {
    auto found = computations_.find(id);
    if (found == computations_.end())
      return Fail(StrCat("called computation id ", id, " does not exist or does not precede its caller"));
    // A computation without a root is unreadable, and an error has already been reported.
    depends_on_broken_ |= found->second->root == nullptr;
    called_.push_back(found->second);
  }
  return {};
}

// Reads a parameter's number and a constant's value, which only shoal stores as attributes.
Status ModuleReader::ReadInParentheses(const proto::HloInstructionProto& from, Instruction& draft,
                                       std::vector<NamedAttr>& attrs) {
  if (IsParameter(draft)) {
    if (from.parameter_number() < 0)
      return Fail(StrCat("a parameter number must not be negative, got ", from.parameter_number()));
    attrs.push_back({kParameterNumber.id, from.parameter_number()});
  }
  if (IsConstant(draft)) {
    const Literal* value = nullptr;
    if (from.has_literal()) {
      SHOAL_ASSIGN(literal, ReadLiteral(module_, from.literal()));
      if (!Compatible(*literal->shape, draft.shape()))
        return Fail(StrCat("the value has shape ", ToString(*literal->shape), ", expected ", ToString(draft.shape())));
      value = WithShape(module_, *literal, draft.shape());
    } else {
      value = ElidedLiteral(module_, draft.shape());
    }
    attrs.push_back({kConstantValue.id, value});
  }
  return {};
}

Status ModuleReader::ReadAttributes(const proto::HloInstructionProto& from, Instruction& draft,
                                    std::vector<NamedAttr>& attrs) {
  const AttrSource source{module_, from, draft, called_, control_predecessors_, *payloads_, from_executable_};
  for (const AttrField& field : FieldsOf(draft.opcode)) {
    SHOAL_ASSIGN(decoded, field.codec->read(field, source));
    const AttrDef& def = *field.def;
    if (IsNonDefault(def, decoded)) attrs.push_back({def.id, *decoded.value});
    const bool required = def.required && (def.not_required_if == nullptr || !def.not_required_if(draft));
    if (required && !decoded.value) return Fail(StrCat(Text(draft.opcode), " needs the attribute ", def.name));
  }
  for (const std::string& text : from.shoal().unknown_attributes()) {
    const std::string_view attribute = module_.arena.CopyString(text);
    attrs.push_back({AttrId(attribute.substr(0, attribute.find('='))), RawText{attribute}});
  }
  return {};
}

Status ModuleReader::Normalize(Instruction& hlo) {
  if (Status formed = Info(hlo.opcode).form(hlo, module_); !formed.ok()) {
    Diag& diag = formed.diag();
    if (strict_) return std::move(diag);
    TolerateDeviation(StrCat("loose.", diag.rule), std::move(diag.message), diag.site);
  }
  const std::span<const bool> replication = hlo[kParameterReplication];
  const int64_t leaves = hlo.shape().LeafCount();
  if (!hlo.has(kParameterReplication) || std::ssize(replication) == leaves) return {};
  std::string message = StrCat("parameter_replication has ", replication.size(), " entries for ", leaves, " arrays");
  if (strict_) return Fail({}, "loose.replication", std::move(message));
  TolerateDeviation("loose.replication", std::move(message));
  return {};
}

}  // namespace shoal::internal
