// Assigns names to instructions, even if the text gives them no name, and resolves references by name.
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

bool Parser::NameInstruction(Instruction& hlo, const InstructionHead& head) {
  hlo.name_at = head.name_at;
  if (head.name.empty()) {
    hlo.name = AnonymousName(hlo);
  } else {
    hlo.name = head.name;
    if (uniquer_) uniquer_->Unique(hlo.name);
    bool suspect = hlo.name.starts_with("__") || IsTypeName(hlo.name);
    if (suspect && NameUniquer::Sanitized(hlo.name) != hlo.name &&
        !TolerateDeviation(
            head.name_at, "loose.name",
            StrCat(hlo.name, " is not a valid name; XLA would rename it to ", NameUniquer::Sanitized(hlo.name))))
      return false;
  }
  const Instruction* definition = scope().names.Add(&hlo);
  if (definition == nullptr) return true;
  LineColumn first = module_.source->Locate(definition->name_at.offset);
  return Error(head.name_at, StrCat("instruction ", hlo.name, " is defined twice, first in line ", first.line));
}

// Names nested instructions add.anon, add.anon.1, …, without repeating an earlier name of the text.
std::string_view Parser::AnonymousName(const Instruction& hlo) {
  if (!uniquer_) {
    uniquer_.emplace();
    for (const Computation* computation : module_.computations)
      for (const Instruction* other : computation->instructions) uniquer_->Unique(other->name);
    for (const auto& open : scopes_) {
      open->names.ForEach([&](const Instruction& other) { uniquer_->Unique(other.name); });
      for (const auto& [path, element] : open->elements) uniquer_->Unique(element->name);
    }
  }
  return module_.arena.CopyString(uniquer_->Unique(StrCat(Text(hlo.opcode), ".anon")));
}

// {%a, %b}, with at least one name.
bool Parser::ReadInstructionNames(AttrValue* value) {
  std::vector<Instruction*> instructions;
  if (!Expect(Tok::kLbrace, "'{' before instruction names")) return false;
  do {
    TextSpan at = token().span();
    std::string_view name;
    if (!ReadName(&name)) return false;
    Instruction* found = scope().names.Find(name);
    if (found == nullptr) {
      if (scope().broken.contains(name)) continue;
      if (!options_.strict) {
        scope().pending_control.push_back({nullptr, {name, at}});
        continue;
      }
      return Error(at, StrCat("instruction ", name, " must be defined before its use"));
    }
    instructions.push_back(found);
  } while (Eat(Tok::kComma));
  *value = Instructions(module_.arena.Copy(instructions));
  return Expect(Tok::kRbrace, "'}' after instruction names");
}

}  // namespace shoal::internal
