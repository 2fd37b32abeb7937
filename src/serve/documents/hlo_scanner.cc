// Indexes HLO text with the lexer of the parser.
#include <algorithm>

#include "core/ops/op.h"
#include "formats/text/lexer.h"
#include "serve/documents/text_scanners.h"

namespace shoal::internal {
namespace {

enum class NameKind : uint8_t { kNone, kComputation, kInstruction };

// The kind of the names in an attribute, from the op table.
NameKind NameKindOf(std::string_view attribute) {
  static const auto* kinds = [] {
    auto* map = new absl::flat_hash_map<std::string_view, NameKind>;
    const auto add = [map](std::span<const AttrDef> attrs) {
      for (const AttrDef& attr : attrs) {
        if (attr.kind == AttrKind::kComputation || attr.kind == AttrKind::kComputations)
          map->emplace(attr.name, NameKind::kComputation);
        if (attr.kind == AttrKind::kInstructions) map->emplace(attr.name, NameKind::kInstruction);
      }
    };
    for (int i = 0; i < kOpcodeCount; ++i) add(Info(static_cast<Opcode>(i)).attrs);
    add(CommonAttrs());
    return map;
  }();
  const auto found = kinds->find(attribute);
  return found == kinds->end() ? NameKind::kNone : found->second;
}

// Reads the text once. Text that does not fit the grammar is skipped up to the next instruction or computation.
class HloScanner {
 public:
  HloScanner(std::string_view text, IndexedText& index) : text_(text), index_(index), lexer_(text) {}

  void Run() {
    while (lexer_.kind() != Tok::kEof) {
      if (IsHeader()) {
        ReadComputation();
      } else {
        SkipLine();
      }
    }
  }

 private:
  const Token& token() const { return lexer_.token(); }
  bool IsName() const { return lexer_.kind() == Tok::kName || lexer_.kind() == Tok::kIdent; }
  bool IsFirstOnLine() const {
    const uint32_t from = lexer_.previous_end();
    return from == 0 || text_.substr(from, token().offset - from).find('\n') != std::string_view::npos;
  }
  bool IsHeader() {
    if (token().Is(Word::kEntry)) return true;
    if (!IsName() || !IsFirstOnLine()) return false;
    const Tok next = lexer_.Peek();
    return next == Tok::kLparen || next == Tok::kLbrace;
  }
  bool IsInstruction() {
    if (token().Is(Word::kRoot)) return true;
    return IsName() && lexer_.Peek() == Tok::kEqual;
  }

  // An unreadable byte is skipped, so that every step consumes something.
  void Next() {
    if (lexer_.kind() == Tok::kError) {
      lexer_.Seek(std::min<uint32_t>(std::max(token().end, token().offset + 1), size()));
    } else {
      lexer_.Next();
    }
  }
  uint32_t size() const { return static_cast<uint32_t>(text_.size()); }

  void SkipLine() {
    const size_t end = text_.find('\n', token().offset);
    lexer_.Seek(end == std::string_view::npos ? size() : static_cast<uint32_t>(end));
  }

  // The offset past the matching bracket; stops at the end of the text and at the next computation or instruction.
  void SkipBrackets() {
    int depth = 0;
    do {
      const Tok kind = lexer_.kind();
      if (kind == Tok::kLparen || kind == Tok::kLbrace || kind == Tok::kLsquare) ++depth;
      if (kind == Tok::kRparen || kind == Tok::kRbrace || kind == Tok::kRsquare) --depth;
      Next();
    } while (depth > 0 && lexer_.kind() != Tok::kEof && !(IsFirstOnLine() && (IsInstruction() || IsHeader())));
  }

  bool AtShape() const { return lexer_.kind() == Tok::kType || lexer_.kind() == Tok::kLparen; }
  void SkipShape() {
    if (lexer_.kind() == Tok::kLparen) return SkipBrackets();
    Next();
    if (lexer_.kind() == Tok::kLparen || lexer_.kind() == Tok::kLsquare) SkipBrackets();
    // A layout follows its shape without a space.
    if (lexer_.kind() == Tok::kLbrace && token().offset == lexer_.previous_end()) SkipBrackets();
  }

  void ReadComputation() {
    IndexedComputation computation;
    const uint32_t start = token().offset;
    if (token().Is(Word::kEntry)) {
      computation.is_entry = true;
      Next();
    }
    if (!IsName()) return;
    computation.name = NameSpan();
    Next();
    if (lexer_.kind() == Tok::kLparen) SkipBrackets();
    if (lexer_.kind() == Tok::kArrow) {
      Next();
      if (AtShape()) SkipShape();
    }
    if (lexer_.kind() != Tok::kLbrace) return;
    computation.open = token().offset;
    Next();
    const auto number = static_cast<uint32_t>(index_.computations.size());
    index_.references.push_back({computation.name, number, NameReference::kNone, true, true});
    computation.first = static_cast<uint32_t>(index_.instructions.size());
    names_.clear();
    const size_t first_reference = index_.references.size();
    while (lexer_.kind() != Tok::kEof && lexer_.kind() != Tok::kRbrace && !(IsFirstOnLine() && IsHeader())) {
      if (IsInstruction()) {
        ReadInstruction(number);
      } else {
        Next();
      }
    }
    const bool closed = lexer_.kind() == Tok::kRbrace;
    computation.close = closed ? token().offset : lexer_.previous_end();
    if (closed) Next();
    computation.last = static_cast<uint32_t>(index_.instructions.size());
    computation.whole = {start, lexer_.previous_end() - start};
    index_.computations.push_back(computation);
    index_.computation_names.try_emplace(BareName(text_, computation.name), number);
    ResolveInstructions(first_reference);
  }

  void ResolveInstructions(size_t first_reference) {
    auto kept = index_.references.begin() + static_cast<std::ptrdiff_t>(first_reference);
    for (auto reference = kept; reference != index_.references.end(); ++reference) {
      if (!reference->is_computation && !reference->is_definition) {
        const auto found = names_.find(BareName(text_, reference->at));
        if (found != names_.end()) {
          reference->target = found->second;
        } else if (text_[reference->at.offset] != '%') {
          continue;  // a word that is not a name, such as nan in a constant
        }
      }
      *kept++ = *reference;
    }
    index_.references.erase(kept, index_.references.end());
  }

  // The current name without the colon or equals sign that may belong to its token.
  TextSpan NameSpan() const {
    const auto length = static_cast<uint32_t>(token().text.size());
    const bool percent = text_[token().offset] == '%';
    return {token().offset, length + (percent ? 1 : 0)};
  }

  void ReadInstruction(uint32_t computation) {
    IndexedInstruction hlo;
    hlo.computation = computation;
    hlo.whole.offset = token().offset;
    if (token().Is(Word::kRoot)) {
      hlo.is_root = true;
      Next();
    }
    if (!IsName()) return;
    hlo.name = NameSpan();
    const auto number = static_cast<uint32_t>(index_.instructions.size());
    index_.references.push_back({hlo.name, number, number, false, true});
    names_.try_emplace(BareName(text_, hlo.name), number);
    Next();
    if (lexer_.kind() == Tok::kEqual) Next();
    if (AtShape()) {
      const uint32_t start = token().offset;
      SkipShape();
      hlo.shape = {start, lexer_.previous_end() - start};
    }
    if (lexer_.kind() == Tok::kIdent) {
      hlo.opcode = token().span();
      Next();
      if (lexer_.kind() == Tok::kLparen) hlo.operands = ReadOperands(number);
      ReadAttributes(number);
    }
    hlo.whole.length = lexer_.previous_end() - hlo.whole.offset;
    index_.instructions.push_back(hlo);
  }

  bool AtEndOfInstruction() { return IsFirstOnLine() && (IsInstruction() || IsHeader()); }

  TextSpan ReadOperands(uint32_t from) {
    const uint32_t start = token().end;
    uint32_t end = start;
    for (int depth = 0; lexer_.kind() != Tok::kEof;) {
      const Tok kind = lexer_.kind();
      if (kind == Tok::kLparen || kind == Tok::kLbrace || kind == Tok::kLsquare) ++depth;
      if (kind == Tok::kRparen || kind == Tok::kRbrace || kind == Tok::kRsquare) --depth;
      if (kind == Tok::kName || (kind == Tok::kIdent && lexer_.Peek() != Tok::kLparen))
        index_.references.push_back({NameSpan(), NameReference::kNone, from, false, false});
      end = depth == 0 ? token().offset : token().end;
      Next();
      if (depth <= 0 || AtEndOfInstruction()) break;
    }
    return {start, end - start};
  }

  void ReadAttributes(uint32_t from) {
    NameKind names = NameKind::kNone;
    int depth = 0;
    while (lexer_.kind() != Tok::kEof && !AtEndOfInstruction()) {
      const Tok kind = lexer_.kind();
      if (depth == 0 && (kind == Tok::kRbrace || IsInstruction())) return;
      if (depth == 0 && kind == Tok::kAttrName) {
        names = NameKindOf(token().text);
        Next();
        std::string_view json;
        // A brace that is never closed is looked for only once: each search may go to the end of the text.
        if (lexer_.kind() == Tok::kLbrace && json_is_closed_ && LooksLikeJson()) json_is_closed_ = lexer_.TakeJson(&json);
        continue;
      }
      if (kind == Tok::kLparen || kind == Tok::kLbrace || kind == Tok::kLsquare) ++depth;
      if (kind == Tok::kRparen || kind == Tok::kRbrace || kind == Tok::kRsquare) --depth;
      if (names != NameKind::kNone && IsName())
        index_.references.push_back({NameSpan(), NameReference::kNone, from, names == NameKind::kComputation, false});
      Next();
    }
  }

  bool LooksLikeJson() const {
    const size_t next = text_.find_first_not_of(" \n\r\t", token().end);
    return next != std::string_view::npos && text_[next] == '"';
  }

  std::string_view text_;
  IndexedText& index_;
  Lexer lexer_;
  absl::flat_hash_map<std::string_view, uint32_t> names_;  // of the current computation
  bool json_is_closed_ = true;
};

}  // namespace

void ScanHlo(std::string_view text, IndexedText& index) { HloScanner(text, index).Run(); }

}  // namespace shoal::internal
