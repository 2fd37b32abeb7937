// Rename of instructions, in their computation, and of computations.
#include "core/base/strings.h"
#include "formats/text/lexer.h"
#include "serve/documents/mlir_lexer.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

// The name without % or @, if the text is one name.
std::optional<std::string> ReadName(std::string_view text, bool is_stablehlo) {
  if (is_stablehlo) {
    if (text.starts_with('%') || text.starts_with('@')) text.remove_prefix(1);
    const std::string value = StrCat("%", text);
    const MlirLexer lexer(value);
    return !text.empty() && lexer.token().end == value.size() ? std::optional(std::string(text)) : std::nullopt;
  }
  Lexer lexer(text);
  const bool is_name = lexer.kind() == Tok::kName || lexer.kind() == Tok::kIdent;
  const std::string name(lexer.token().text);
  if (!is_name || lexer.token().end != text.size() || text.find(':') != std::string_view::npos) return std::nullopt;
  return name;
}

bool IsTaken(const TextIndex& index, const NameReference& reference, const std::string& name) {
  if (reference.is_computation) return index.FindComputation(name) != nullptr;
  const uint32_t computation = index.instructions()[reference.target].computation;
  return index.FindInstruction(index.computations()[computation], name) != nullptr;
}

}  // namespace

json PrepareRename(const View& view, uint32_t offset) {
  const NameReference* reference = view.index().ReferenceAt(offset);
  if (reference == nullptr || reference->target == NameReference::kNone) return nullptr;
  return {{"range", view.RangeOf(reference->at)}, {"placeholder", view.index().Bare(reference->at)}};
}

json Rename(const View& view, uint32_t offset, const std::string& name, std::string* error) {
  const TextIndex& index = view.index();
  const NameReference* reference = index.ReferenceAt(offset);
  if (reference == nullptr || reference->target == NameReference::kNone) {
    *error = "there is no name here";
    return nullptr;
  }
  const std::optional<std::string> bare = ReadName(name, index.is_stablehlo());
  if (!bare) {
    *error = StrCat("'", name, "' is not a valid name");
    return nullptr;
  }
  if (index.Bare(reference->at) != *bare && IsTaken(index, *reference, *bare)) {
    *error = StrCat("the name ", *bare, " is already defined");
    return nullptr;
  }
  json edits = json::array();
  for (const NameReference* other : index.ReferencesTo(*reference)) {
    const std::string_view written = index.TextOf(other->at);
    const std::string_view prefix = written.substr(0, written.size() - index.Bare(other->at).size());  // %, @ or nothing
    edits.push_back({{"range", view.RangeOf(other->at)}, {"newText", StrCat(prefix, *bare)}});
  }
  return {{"changes", {{view.snapshot->uri(), std::move(edits)}}}};
}

}  // namespace shoal::internal
