// Semantic tokens, from the lexer of the parser.
#include <algorithm>

#include "formats/text/lexer.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

enum class Type : uint32_t { kKeyword, kType, kFunction, kVariable, kClass, kProperty, kString, kNumber, kEnumMember };
constexpr const char* kTypes[] = {"keyword", "type",   "function", "variable",  "class",
                                  "property", "string", "number",   "enumMember"};
constexpr uint32_t kDeclaration = 1;

struct Classified {
  Type type{};
  uint32_t modifiers = 0;
};

std::optional<Classified> Classify(const TextIndex& index, const Token& token, const NameReference* reference,
                                   bool is_opcode) {
  if (is_opcode) return Classified{Type::kFunction};
  if (reference != nullptr && reference->at.offset == token.offset)
    return Classified{reference->is_computation ? Type::kClass : Type::kVariable,
                      reference->is_definition ? kDeclaration : 0};
  switch (token.kind) {
    case Tok::kKeyword: return Classified{Type::kKeyword};
    case Tok::kType: return Classified{Type::kType};
    case Tok::kAttrName: return Classified{Type::kProperty};
    case Tok::kString: return Classified{Type::kString};
    case Tok::kInt:
    case Tok::kDecimal:
    case Tok::kNegInf:
    case Tok::kDimLabels:
    case Tok::kDxD:
    case Tok::kPad: return Classified{Type::kNumber};
    case Tok::kIdent: return Classified{Type::kEnumMember};
    case Tok::kName:
      return index.text()[token.offset] == '%' ? std::optional(Classified{Type::kVariable}) : std::nullopt;
    default: return std::nullopt;
  }
}

// Collects tokens in the relative encoding of the protocol: five numbers for each.
class Encoder {
 public:
  explicit Encoder(const View& view) : view_(view) {}

  // A token of several lines becomes one token for each line, because most clients cannot show it otherwise.
  void Add(uint32_t offset, uint32_t end, Classified classified) {
    const Lines& lines = view_.snapshot->lines();
    while (offset < end) {
      const uint32_t line = lines.LineOf(offset);
      const uint32_t line_end = lines.StartOf(line) + static_cast<uint32_t>(lines.TextOf(line).size());
      const uint32_t stop = std::min(end, line_end);
      if (stop > offset) AddInLine(line, offset, stop, classified);
      if (line + 1 >= lines.count()) return;
      offset = std::max(stop, lines.StartOf(line + 1));
    }
  }

  std::vector<uint32_t> Take() { return std::move(data_); }

 private:
  void AddInLine(uint32_t line, uint32_t offset, uint32_t end, Classified classified) {
    const std::string_view text = view_.snapshot->text();
    if (line != line_) {
      at_ = view_.snapshot->lines().StartOf(line);
      character_ = 0;
    }
    const uint32_t character = character_ + LengthIn(text.substr(at_, offset - at_), view_.encoding);
    const bool same_line = !data_.empty() && line == last_line_;
    data_.insert(data_.end(), {line - last_line_, same_line ? character - last_character_ : character,
                               LengthIn(text.substr(offset, end - offset), view_.encoding),
                               static_cast<uint32_t>(classified.type), classified.modifiers});
    line_ = last_line_ = line;
    last_character_ = character_ = character;
    at_ = offset;
  }

  const View& view_;
  std::vector<uint32_t> data_;
  uint32_t line_ = UINT32_MAX, at_ = 0, character_ = 0;  // a position whose character is known
  uint32_t last_line_ = 0, last_character_ = 0;
};

}  // namespace

json SemanticTokensLegend() {
  return {{"tokenTypes", kTypes}, {"tokenModifiers", json::array({"declaration"})}};
}

std::vector<uint32_t> SemanticTokensOf(const View& view, TextSpan range) {
  const TextIndex& index = view.index();
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
  Encoder encoder(view);
  while (lexer.kind() != Tok::kEof && lexer.token().offset < end) {
    const Token& token = lexer.token();
    while (reference != references.end() && reference->at.offset < token.offset) ++reference;
    while (hlo != instructions.end() && hlo->opcode.known() && hlo->opcode.offset < token.offset) ++hlo;
    while (hlo != instructions.end() && !hlo->opcode.known() && hlo->whole.offset <= token.offset) ++hlo;
    const bool is_opcode = hlo != instructions.end() && hlo->opcode.known() && hlo->opcode.offset == token.offset;
    const NameReference* found = reference != references.end() ? &*reference : nullptr;
    if (token.offset >= range.offset)
      if (const std::optional<Classified> classified = Classify(index, token, found, is_opcode))
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
