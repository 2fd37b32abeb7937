// Semantic tokens of HLO, from the lexer of the parser.
#include <algorithm>
#include <optional>

#include "formats/text/lexer.h"
#include "serve/lsp/features.h"
#include "serve/lsp/token_encoder.h"

namespace shoal::internal {
namespace {

using Type = TokenType;
constexpr const char* kTypes[] = {"keyword", "type",   "function", "variable",  "class",
                                  "property", "string", "number",   "enumMember"};

std::optional<TokenClass> Classify(const TextIndex& index, const Token& token, const NameReference* reference,
                                   bool is_opcode) {
  if (is_opcode) return TokenClass{Type::kFunction};
  if (reference != nullptr && reference->at.offset == token.offset)
    return TokenClass{reference->is_computation ? Type::kClass : Type::kVariable,
                      reference->is_definition ? kDeclarationToken : 0};
  switch (token.kind) {
    case Tok::kKeyword: return TokenClass{Type::kKeyword};
    case Tok::kType: return TokenClass{Type::kType};
    case Tok::kAttrName: return TokenClass{Type::kProperty};
    case Tok::kString: return TokenClass{Type::kString};
    case Tok::kInt:
    case Tok::kDecimal:
    case Tok::kNegInf:
    case Tok::kDimLabels:
    case Tok::kDxD:
    case Tok::kPad: return TokenClass{Type::kNumber};
    case Tok::kIdent: return TokenClass{Type::kEnumMember};
    case Tok::kName:
      return index.text()[token.offset] == '%' ? std::optional(TokenClass{Type::kVariable}) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

json SemanticTokensLegend() {
  return {{"tokenTypes", kTypes}, {"tokenModifiers", json::array({"declaration"})}};
}

std::vector<uint32_t> SemanticTokensOf(const View& view, TextSpan range) {
  const TextIndex& index = view.index();
  if (index.is_stablehlo()) return StablehloTokensOf(view, range);
  const std::string_view text = index.text();
  // Starts at the instruction that contains the beginning of the range, so that the lexer is not inside a string.
  uint32_t start = range.offset;
  if (const IndexedInstruction* at = index.InstructionAt(start)) start = at->whole.offset;
  const uint32_t end = range.offset + range.length;
  Lexer lexer(text);
  lexer.Seek(start);
  const std::span<const NameReference> references = index.references();
  auto reference = std::partition_point(references.begin(), references.end(),
                                        [&](const NameReference& r) { return r.at.offset < start; });
  const std::span<const IndexedInstruction> instructions = index.instructions();
  auto hlo = std::partition_point(instructions.begin(), instructions.end(),
                                  [&](const IndexedInstruction& h) { return h.whole.offset < start; });
  TokenEncoder encoder(view);
  while (lexer.kind() != Tok::kEof && lexer.token().offset < end) {
    const Token& token = lexer.token();
    while (reference != references.end() && reference->at.offset < token.offset) ++reference;
    while (hlo != instructions.end() && hlo->opcode.known() && hlo->opcode.offset < token.offset) ++hlo;
    while (hlo != instructions.end() && !hlo->opcode.known() && hlo->whole.offset <= token.offset) ++hlo;
    const bool is_opcode = hlo != instructions.end() && hlo->opcode.known() && hlo->opcode.offset == token.offset;
    const NameReference* found = reference != references.end() ? &*reference : nullptr;
    if (token.offset >= range.offset)
      if (const std::optional<TokenClass> classified = Classify(index, token, found, is_opcode))
        encoder.Add(token.offset, token.end, *classified);
    if (token.kind == Tok::kError) {
      lexer.Seek(std::max(token.end, token.offset + 1));
    } else {
      lexer.Next();
    }
  }
  return encoder.Take();
}

}  // namespace shoal::internal
