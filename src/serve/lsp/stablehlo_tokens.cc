// Semantic tokens of StableHLO text.
#include <algorithm>
#include <optional>

#include "formats/stablehlo/op_table.h"
#include "serve/documents/mlir_lexer.h"
#include "serve/lsp/token_encoder.h"

namespace shoal::internal {
namespace {

std::optional<TokenType> TypeOfWord(std::string_view word, bool names_attribute) {
  if (names_attribute) return TokenType::kProperty;
  if (word == "tensor" || word == "tuple" || word == "loc") return word == "loc" ? TokenType::kKeyword : TokenType::kType;
  if (FindMlirOp(word) != nullptr) return TokenType::kFunction;
  if (word.find('.') != std::string_view::npos) return TokenType::kFunction;
  constexpr std::string_view kKeywords[] = {"module", "func",    "return",  "call", "public", "private", "attributes",
                                            "cond",   "do",      "reducer", "init", "across", "applies", "dense"};
  if (std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords)) return TokenType::kKeyword;
  return TokenType::kEnumMember;
}

std::optional<TokenType> TypeOf(const MlirLexer& lexer) {
  switch (lexer.kind()) {
    case MlirTok::kValue: return TokenType::kVariable;
    case MlirTok::kSymbol: return TokenType::kClass;
    case MlirTok::kBlock: return TokenType::kKeyword;
    case MlirTok::kAttribute: return TokenType::kEnumMember;
    case MlirTok::kType: return TokenType::kType;
    case MlirTok::kNumber: return TokenType::kNumber;
    case MlirTok::kString: return TokenType::kString;
    case MlirTok::kWord: {
      MlirLexer ahead = lexer;
      ahead.Next();
      return TypeOfWord(lexer.text(), ahead.Is('='));
    }
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<uint32_t> StablehloTokensOf(const View& view, TextSpan range) {
  const TextIndex& index = view.index();
  // Starts at the beginning of a line, because no token goes beyond its line.
  const Lines& lines = view.snapshot->lines();
  MlirLexer lexer(index.text(), lines.StartOf(lines.LineOf(range.offset)));
  const std::span<const NameReference> references = index.references();
  auto reference = std::partition_point(references.begin(), references.end(),
                                        [&](const NameReference& r) { return r.at.offset < range.offset; });
  TokenEncoder encoder(view);
  for (; lexer.kind() != MlirTok::kEof && lexer.token().offset < range.offset + range.length; lexer.Next()) {
    const MlirToken token = lexer.token();
    if (token.offset < range.offset) continue;
    while (reference != references.end() && reference->at.offset < token.offset) ++reference;
    const bool defines = reference != references.end() && reference->at.offset == token.offset && reference->is_definition;
    if (const std::optional<TokenType> type = TypeOf(lexer))
      encoder.Add(token.offset, token.end, {*type, defines ? kDeclarationToken : 0});
  }
  return encoder.Take();
}

}  // namespace shoal::internal
