// Reads operands: names with optional shapes, or nested instructions.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

bool Parser::ReadOperands(Computation& computation, std::vector<Instruction*>& operands) {
  const bool read = ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, [&] {
    const size_t missing = scope().missing.size();
    const TextSpan at = token().span();
    bool dropped = false;
    Instruction* operand = ReadOperand(computation, &dropped);
    if (dropped) diags_.Warn(at, "loose.operand", "ignored a shape without an operand name, as XLA does");
    if (operand != nullptr) operands.push_back(operand);
    // An operand that is defined later defers the instruction, but the rest of the list is read to record all of them.
    return operand != nullptr || dropped || scope().missing.size() > missing;
  });
  return read && scope().missing.empty();
}

// operand ::= shape? name ('#' integer)*  |  shape? opcode '(' operands ')'
Instruction* Parser::ReadOperand(Computation& computation, bool* dropped) {
  const TextSpan at = token().span();
  // Most operands are plain names; `opcode(` begins a nested instruction.
  if (kind() == Tok::kIdent && lexer_.text().substr(token().end, 1) == "(" && !AtShape())
    return ReadInstructionBody(computation, "", at, /*nested=*/true);
  const Shape* shape = nullptr;
  if (AtShape()) {
    shape = ReadShape();
    if (shape == nullptr) return nullptr;
    if (kind() == Tok::kIdent && lexer_.Peek() == Tok::kLparen) {
      lexer_.Seek(at.offset);
      return ReadInstructionBody(computation, "", at, /*nested=*/true);
    }
  }
  const TextSpan name_at = token().span();
  if (kind() == Tok::kIdent && lexer_.Peek() == Tok::kLparen)
    return ReadInstructionBody(computation, "", at, /*nested=*/true);
  std::string_view name;
  bool unnamed =
      shape != nullptr && single_instruction_ && scopes_.size() == 1 && kind() != Tok::kIdent && kind() != Tok::kName;
  *dropped = shape != nullptr && !unnamed && (kind() == Tok::kComma || kind() == Tok::kRparen);
  if (*dropped || (!unnamed && !ReadName(&name))) return nullptr;
  if (kind() == Tok::kHash) {
    Instruction* base = ResolveOperand(computation, name, name_at, nullptr);
    if (base == nullptr) return nullptr;
    Instruction* element = ReadTupleElements(computation, base, name, name_at);
    if (element == nullptr || shape == nullptr || Compatible(element->shape(), *shape)) return element;
    bool allowed = TolerateDeviation(
        at, "loose.operand-shape",
        StrCat(name, " has shape ", ToString(element->shape()), ", but is written as ", ToString(*shape)));
    return allowed ? element : nullptr;
  }
  return ResolveOperand(computation, name, name_at, shape);
}

Instruction* Parser::ResolveOperand(Computation& computation, std::string_view name, TextSpan at, const Shape* shape) {
  Instruction* hlo = scope().names.Find(name);
  if (hlo == nullptr) return MissingOperand(computation, name, at, shape);
  if (shape == nullptr || Compatible(hlo->shape(), *shape)) return hlo;
  bool allowed = TolerateDeviation(at, "loose.operand-shape",
                         StrCat(name, " has shape ", ToString(hlo->shape()), ", but is written as ", ToString(*shape)));
  return allowed ? hlo : nullptr;
}

Instruction* Parser::MissingOperand(Computation& computation, std::string_view name, TextSpan at, const Shape* shape) {
  if (single_instruction_ && scopes_.size() == 1) {
    if (shape == nullptr) {
      Error(at, StrCat("operand ", name, " of a single instruction must be written with its shape"));
      return nullptr;
    }
    std::string_view parameter = name.empty() ? module_.arena.CopyString(StrCat("_", missing_parameters_)) : name;
    return MakeParameter(computation, missing_parameters_++, shape, parameter, at);
  }
  if (options_.strict && IsInSignature(name)) return MakeFromSignature(computation, {name, at});
  // An unreadable instruction has already been reported; its users are dropped without another error.
  if (!scope().broken.contains(name) && !RecordMissing(name, at))
    Error(at, StrCat("instruction ", name, " must be defined before its use"));
  return nullptr;
}

bool Parser::IsInSignature(std::string_view name) {
  const auto& signature = scope().signature;
  return std::any_of(signature.begin(), signature.end(), [&](const auto& row) { return row.first == name; });
}

Instruction* Parser::MakeFromSignature(Computation& computation, const NameUse& use) {
  if (!TolerateDeviation(use.at, "loose.parameter", StrCat("parameter ", use.name, " is only in the signature")))
    return nullptr;
  const auto& signature = scope().signature;
  size_t number = 0;
  while (signature[number].first != use.name) ++number;
  return MakeParameter(computation, static_cast<int64_t>(number), signature[number].second, use.name, use.at);
}

Instruction* Parser::MakeParameter(Computation& computation, int64_t number, const Shape* shape, std::string_view name,
                                   TextSpan at) {
  Instruction* hlo = module_.NewInstruction(computation);
  hlo->opcode = kParameterOp;
  hlo->name = name;
  hlo->shape_ = shape;
  hlo->at = hlo->name_at = at;
  SetAttr(*hlo, module_, kParameterNumber, number);
  scope().names.Add(hlo);
  scope().parameters.push_back(hlo);
  return hlo;
}

// Reads name#1#0: element 0 of element 1. Operands with the same path share their get-tuple-elements.
Instruction* Parser::ReadTupleElements(Computation& computation, Instruction* hlo, std::string_view name, TextSpan at) {
  std::string path(name);
  while (Eat(Tok::kHash)) {
    int64_t index = 0;
    if (!ReadInt(&index)) return nullptr;
    if (!hlo->shape().IsTuple() || index < 0 || index >= static_cast<int64_t>(hlo->shape().elements().size())) {
      Error(at, StrCat("element ", index, " of ", ToString(hlo->shape()), " does not exist"));
      return nullptr;
    }
    StrAppend(&path, "#", index);
    Instruction*& element_slot = scope().elements[path];
    if (element_slot != nullptr) {
      hlo = element_slot;
      continue;
    }
    Instruction* element = module_.NewInstruction(computation);
    element->opcode = kElementOp;
    element->name = module_.arena.CopyString(NameUniquer::Sanitized(path));
    element->shape_ = &hlo->shape().element(index);
    element->operands = module_.arena.Copy(std::span(&hlo, 1));
    element->at = element->name_at = at;
    SetAttr(*element, module_, kElementIndex, index);
    element_slot = hlo = element;
  }
  return hlo;
}

}  // namespace shoal::internal
