// What instructions are called, also those that the text leaves without a name, or refers to by one.
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

bool Parser::NameInstruction(Instruction& hlo, const InstructionHead& opening) {
  hlo.name_at = opening.name_at;
  if (opening.name.empty()) {
    hlo.name = AnonymousName(hlo);
  } else {
    hlo.name = opening.name;
    if (uniquer_) uniquer_->Unique(hlo.name);
    bool suspect = hlo.name.starts_with("__") || IsTypeName(hlo.name);
    if (suspect && NameUniquer::Sanitized(hlo.name) != hlo.name &&
        !TolerateDeviation(
            opening.name_at, "loose.name",
            StrCat(hlo.name, " is no name for an instruction; XLA would call it ", NameUniquer::Sanitized(hlo.name))))
      return false;
  }
  const Instruction* known = scope().names.Add(&hlo);
  if (known == nullptr) return true;
  LineColumn first = module_.source->Locate(known->name_at.offset);
  return Error(opening.name_at, StrCat("instruction ", hlo.name, " is defined twice, first in line ", first.line));
}

// Nested instructions are called add.anon, add.anon.1, …; no name of the text before may be hit.
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

// {%a, %b}: at least one.
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
        scope().late_control.push_back({nullptr, {name, at}});
        continue;
      }
      return Error(at, StrCat("instruction ", name, " is not defined before this"));
    }
    instructions.push_back(found);
  } while (Eat(Tok::kComma));
  *value = Instructions(module_.arena.Copy(instructions));
  return Expect(Tok::kRbrace, "'}' after instruction names");
}

}  // namespace shoal::internal
