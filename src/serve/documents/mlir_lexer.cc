#include "serve/documents/mlir_lexer.h"

#include <algorithm>

#include "core/base/numbers.h"

namespace shoal::internal {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

}  // namespace

size_t MlirLexer::NameEnd(size_t from) const {
  while (from < text_.size() && (IsLetter(text_[from]) || IsDigit(text_[from]) || text_[from] == '.' ||
                                 (text_[from] == '-' && text_.substr(from, 2) != "->")))
    ++from;
  return from;
}

// A string ends with its line at the latest.
size_t MlirLexer::StringEnd(size_t from) const {
  for (size_t i = from + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '"') return i + 1;
    if (text_[i] == '\\') ++i;
  }
  return std::min(text_.find('\n', from), text_.size());
}

void MlirLexer::Next() {
  const size_t start = at_;
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  token_.is_first_on_line = start == 0 || text_.substr(start, at_ - start).find('\n') != std::string_view::npos;
  token_.offset = static_cast<uint32_t>(at_);
  token_.kind = Lex();
  token_.end = static_cast<uint32_t>(at_);
}

MlirTok MlirLexer::Lex() {
  if (at_ == text_.size()) return MlirTok::kEof;
  const char c = text_[at_];
  const size_t name_end = NameEnd(at_ + 1);
  const auto name = [&](MlirTok kind) {
    at_ = name_end;
    return kind;
  };
  switch (c) {
    case '%': return name(MlirTok::kValue);
    case '^': return name(MlirTok::kBlock);
    case '#': return name_end > at_ + 1 ? name(MlirTok::kAttribute) : name(MlirTok::kPunctuation);
    case '!': return name(MlirTok::kType);
    case '@':
      at_ = name_end < text_.size() && text_[name_end] == '"' && name_end == at_ + 1 ? StringEnd(name_end) : name_end;
      return MlirTok::kSymbol;
    case '"': at_ = StringEnd(at_); return MlirTok::kString;
    case '/':
      if (text_.substr(at_, 2) != "//") break;
      at_ = std::min(text_.find('\n', at_), text_.size());
      return MlirTok::kComment;
    case '-':
      if (text_.substr(at_, 2) == "->") {
        at_ += 2;
        return MlirTok::kArrow;
      }
      if (at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])) return name(MlirTok::kNumber);
      break;
    default: break;
  }
  if (IsDigit(c)) return name(MlirTok::kNumber);
  if (IsLetter(c)) return name(MlirTok::kWord);
  ++at_;
  return MlirTok::kPunctuation;
}

}  // namespace shoal::internal
