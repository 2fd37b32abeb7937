// Reads one instruction: name = shape opcode(operands), attribute=value, …
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

// instruction ::= 'ROOT'? name '=' shape? opcode '(' operands ')' (',' attribute)*
bool Parser::ReadInstruction(Computation& computation, Instruction** root) {
  const TextSpan root_at = token().span();
  const bool is_root = token().Is(Word::kRoot);
  if (is_root) lexer_.Next();
  const TextSpan name_at = token().span();
  std::string_view name;
  if (kind() == Tok::kAttrName) {  // name=: XLA requires a space
    if (!TolerateDeviation(name_at, "loose.space", "expected a space before '='")) return false;
    name = token().text;
    lexer_.Next();
  } else if (!ReadName(&name) || !Expect(Tok::kEqual, "'=' after the instruction's name")) {
    return false;
  }
  if (is_root && *root != nullptr) return Error(root_at, "a computation can have only one ROOT");
  const size_t first_pending = scope().pending_control.size();
  Instruction* hlo = ReadInstructionBody(computation, name, name_at, /*nested=*/false);
  for (size_t i = first_pending; i < scope().pending_control.size(); ++i) scope().pending_control[i].user = hlo;
  if (hlo == nullptr && !scope().missing.empty()) {
    Defer(root_at.offset, name);
    return true;
  }
  if (hlo == nullptr) {
    scope().broken.insert(name);
    return false;
  }
  if (is_root) *root = hlo;
  return true;
}

Instruction* Parser::ReadInstructionBody(Computation& computation, std::string_view name, TextSpan name_at,
                                         bool nested) {
  Depth depth(*this);
  if (depth.TooDeep()) return nullptr;
  InstructionHead head;
  head.name = name;
  head.name_at = name_at;
  if (AtShape()) {
    head.shape = ReadShape();
    if (head.shape == nullptr) return nullptr;
  }
  if (!ReadOpcode(&head)) return nullptr;
  const bool may_wrap = Info(head.opcode).op_class == OpClass::kCollective && !options_.xla_compatible;
  if (may_wrap) RecogniseWrappedCollective(&head);
  const OpInfo& op = Info(head.opcode);
  if (head.shape == nullptr && !op.infers_shape) {
    Error(head.opcode_at, StrCat("expected a shape before ", head.opcode_text, ": it cannot be inferred"));
    return nullptr;
  }
  if (head.wrapped || IsChainPart(head.opcode)) return ReadAsync(computation, head, nested);

  Instruction* hlo = module_.arena.New<Instruction>();
  hlo->opcode = head.opcode;
  hlo->shape_ = head.shape;
  hlo->at = head.opcode_at;
  hlo->name = name;
  auto& [attrs, operands] = TakeScratch();
  bool good = ReadParenthesised(*hlo, computation, operands, attrs);
  hlo->operands = module_.arena.Copy(operands);
  good = good && ReadAttributes(*hlo, op.attrs, attrs, !nested);
  hlo->attrs = module_.arena.Copy(attrs);
  ReleaseScratch();
  if (!good || !CheckRequired(*hlo, op.attrs)) return nullptr;
  Append(*hlo, computation);
  if (!FinishInstruction(*hlo, head)) {
    computation.instructions.pop_back();
    return nullptr;
  }
  if (IsParameter(*hlo)) scope().parameters.push_back(hlo);
  return hlo;
}

bool Parser::ReadOpcode(InstructionHead* head) {
  if (kind() != Tok::kIdent) return ErrorHere("expected an opcode");
  head->opcode_text = token().text;
  head->opcode_at = token().span();
  std::string_view text = token().text;
  lexer_.Next();
  if (std::optional<Opcode> opcode = ParseOpcode(text)) {
    head->opcode = *opcode;
    return true;
  }
  // dot-start is an async-start that wraps a dot. Ops that have separate async ops are not wrapped.
  for (auto [suffix, async] : kChainSuffixes) {
    if (!text.ends_with(suffix)) continue;
    std::optional<Opcode> wrapped = ParseOpcode(text.substr(0, text.size() - suffix.size()));
    bool has_own_form = wrapped && ParseOpcode(StrCat(Text(*wrapped), "-done")).has_value();
    if (!wrapped || has_own_form) break;
    head->opcode = async;
    head->wrapped = wrapped;
    return true;
  }
  head->opcode = kUnknownOp;
  return TolerateDeviation(head->opcode_at, "loose.opcode", StrCat("unknown HLO op ", text));
}

// Reads the text between the parentheses: operands, a parameter's number or a constant's value.
bool Parser::ReadParenthesised(Instruction& hlo, Computation& computation, std::vector<Instruction*>& operands,
                               std::vector<NamedAttr>& attrs) {
  if (IsUnknown(hlo))
    attrs.push_back({kUnknownOpcode.id, lexer_.text().substr(hlo.at.offset, hlo.at.length)});
  if (IsParameter(hlo)) {
    int64_t number = 0;
    if (!Expect(Tok::kLparen, "'(' before the parameter number")) return false;
    TextSpan at = token().span();
    if (!ReadInt(&number)) return false;
    if (number < 0) return Error(at, StrCat("a parameter number must not be negative, got ", number));
    attrs.push_back({kParameterNumber.id, number});
    return Expect(Tok::kRparen, "')' after the parameter number");
  }
  if (IsConstant(hlo)) {
    if (!Expect(Tok::kLparen, "'(' before the value")) return false;
    if (kind() == Tok::kRparen) return ReadTrailingLiteral(hlo, attrs);
    const Literal* literal = ReadLiteral(hlo.shape());
    if (literal == nullptr) return false;
    attrs.push_back({kConstantValue.id, literal});
    hlo.shape_ = literal->shape;
    return Expect(Tok::kRparen, "')' after the value");
  }
  if (!ReadOperands(computation, operands)) return false;
  const int arity = Info(hlo.opcode).arity;
  if (arity < 0 || static_cast<size_t>(arity) == operands.size()) return true;
  return Error(hlo.at, StrCat(Text(hlo.opcode), " takes ", arity, arity == 1 ? " operand" : " operands", ", found ",
                              operands.size()));
}

// constant(), literal=10
bool Parser::ReadTrailingLiteral(Instruction& hlo, std::vector<NamedAttr>& attrs) {
  if (!TolerateDeviation(token().span(), "loose.constant", "the value of a constant must be between its parentheses"))
    return false;
  lexer_.Next();
  if (!Expect(Tok::kComma, "literal= after constant()")) return false;
  std::string_view name;
  TextSpan at = token().span();
  if (!ReadAttrName(&name)) return false;
  if (name != "literal") return Error(at, "expected literal= after constant()");
  const Literal* literal = ReadLiteral(hlo.shape());
  if (literal == nullptr) return false;
  attrs.push_back({kConstantValue.id, literal});
  hlo.shape_ = literal->shape;
  return true;
}

// ---- attributes
bool Parser::ReadAttributes(Instruction& hlo, std::span<const AttrDef> own, std::vector<NamedAttr>& attrs,
                            bool allowed) {
  while (allowed && Eat(Tok::kComma)) {
    const TextSpan at = token().span();
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    const uint32_t id = AttrId(name);
    auto same = [id](const NamedAttr& attr) { return attr.id == id; };
    if (std::any_of(attrs.begin(), attrs.end(), same)) return Error(at, StrCat("duplicate attribute ", name));
    const AttrDef* def = FindAttr(own, id);
    if (def == nullptr) def = FindAttr(hlo.opcode, id);
    if (def == nullptr || !SameName(def->name, name)) {
      std::string message = StrCat(Text(hlo.opcode), " has no attribute ", name);
      if (!IsUnknown(hlo) && !TolerateDeviation(at, "loose.attribute", std::move(message))) return false;
      if (!ReadUnknownAttr(name, at, attrs)) return false;
      continue;
    }
    NamedAttr attr{id, false};
    if (!ReadAttrValue(*def, &attr.value)) return false;
    attrs.push_back(attr);
  }
  return true;
}

bool Parser::CheckRequired(const Instruction& hlo, std::span<const AttrDef> own) {
  for (const AttrDef& def : own) {
    if (!def.required || hlo.Find(def.id) != nullptr) continue;
    if (def.not_required_if != nullptr && def.not_required_if(hlo)) continue;
    if (!TolerateDeviation(hlo.at, "loose.missing-attribute", StrCat(Text(hlo.opcode), " needs the attribute ", def.name)))
      return false;
  }
  return true;
}

// ---- after all attributes are read
// Puts called computations into the order of the op's list of attributes, independent of their order in the text.
void Parser::OrderComputations(Instruction& hlo) {
  std::span<const AttrDef> defs = Info(hlo.opcode).attrs;
  auto rank = [&](const NamedAttr& attr) {
    for (size_t i = 0; i < defs.size(); ++i)
      if (defs[i].id == attr.id && std::holds_alternative<Computation*>(attr.value)) return i;
    return defs.size();
  };
  std::stable_sort(hlo.attrs.begin(), hlo.attrs.end(),
                   [&](const NamedAttr& a, const NamedAttr& b) { return rank(a) < rank(b); });
}

bool Parser::FinishInstruction(Instruction& hlo, const InstructionHead& head) {
  const OpInfo& op = Info(hlo.opcode);
  if (op.op_class == OpClass::kControlFlow || op.op_class == OpClass::kReduction) OrderComputations(hlo);
  if (Status formed = op.form(hlo, module_); !formed.ok()) {
    Diag& diag = formed.diag();
    if (!TolerateDeviation(diag.at, diag.rule, std::move(diag.message), diag.site)) return false;
  }
  if (hlo.shape_ == nullptr && !InferShape(hlo)) return false;
  if (hlo.shape().LeafCount() >= kMaxLeaves)
    return Error(hlo.at, StrCat("a tuple can have at most ", kMaxLeaves - 1, " leaves"));
  if (const Sharding* sharding = hlo[kSharding]; sharding != nullptr && hlo.shape().IsTuple()) {
    if (sharding->kind != Sharding::Kind::kTuple)
      SetAttr(hlo, module_, kSharding,
              static_cast<const Sharding*>(module_.arena.New<Sharding>(Sharding::ForShape(*sharding, hlo.shape()))));
  }
  if (std::span<const bool> replication = hlo[kParameterReplication]; hlo.has(kParameterReplication)) {
    const int64_t leaves = hlo.shape().LeafCount();
    if (static_cast<int64_t>(replication.size()) != leaves &&
        !TolerateDeviation(hlo.at, "loose.replication",
                 StrCat("parameter_replication has ", replication.size(), " entries for ", leaves, " arrays")))
      return false;
  }
  return NameInstruction(hlo, head);
}

// Infers a shape that the text omits.
bool Parser::InferShape(Instruction& hlo) {
  Result<const Shape*> inferred = Info(hlo.opcode).infer(hlo, module_.shapes);
  if (inferred.ok()) {
    hlo.shape_ = *inferred;
    return true;
  }
  const Shape* guess = nullptr;
  for (const Computation* called : CalledComputations(hlo))
    if (guess == nullptr && called->root != nullptr) guess = &called->root->shape();
  if (guess == nullptr && !hlo.operands.empty()) guess = &hlo.operand_shape(0);
  std::string message = StrCat("the shape of this ", Text(hlo.opcode),
                               " is missing and cannot be inferred: ", inferred.diag().message);
  if (guess == nullptr) return Error(hlo.at, std::move(message));
  StrAppend(&message, "; assuming ", ToString(*guess));
  hlo.shape_ = guess;
  return TolerateDeviation(hlo.at, "loose.shape", std::move(message));
}

}  // namespace shoal::internal
