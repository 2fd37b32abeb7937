// Error recovery: skips unreadable text.
#include <algorithm>

#include "formats/text/module_parser.h"

namespace shoal::internal {

std::optional<uint32_t> Parser::FirstUnreadableOffset() const {
  std::optional<uint32_t> first;
  for (uint32_t start : unreadable_)
    if (start > last_read_ && (!first || start < *first)) first = start;
  return first;
}

// Skips from the instruction at `failed`, or from the last error if that is later in the text, to the next line that
// begins an instruction or closes the computation.
void Parser::SkipToNextInstruction(uint32_t failed) {
  std::string_view text = lexer_.text();
  size_t at = last_error_ == TextSpan::kNowhere ? failed : std::max(last_error_, failed);
  auto begins_instruction = [](std::string_view line) {
    if (line.starts_with("ROOT ")) line.remove_prefix(5);
    bool percent = line.starts_with("%");
    size_t equal = line.find('=');
    if (equal == std::string_view::npos || equal == 0) return false;
    std::string_view name = line.substr(percent ? 1 : 0, equal - (percent ? 1 : 0));
    bool spaced = name.ends_with(' ');
    while (name.ends_with(' ')) name.remove_suffix(1);
    return (percent || spaced) && !name.empty() && name.find_first_of(" ,(){}\"") == std::string_view::npos;
  };
  while (true) {
    size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return lexer_.Seek(static_cast<uint32_t>(text.size()));
    at = end + 1;
    size_t start = text.find_first_not_of(" \t\r", at);
    if (start == std::string_view::npos) return lexer_.Seek(static_cast<uint32_t>(text.size()));
    std::string_view line = text.substr(start, text.find('\n', start) - start);
    if (line.starts_with("}") || begins_instruction(line)) return lexer_.Seek(static_cast<uint32_t>(start));
  }
}

// Skips a computation that ReadAhead has already read.
void Parser::SkipComputation() {
  int depth = 0;
  while (kind() != Tok::kEof) {
    Tok previous = kind();
    if (kind() == Tok::kLbrace) ++depth;
    if (kind() == Tok::kRbrace) --depth;
    lexer_.Next();
    // The closing brace of a layout in the signature is not the end: another brace follows it.
    if (previous == Tok::kRbrace && depth == 0 && kind() != Tok::kLbrace) break;
  }
  if (kind() == Tok::kComma) {
    lexer_.Next();
    lexer_.Next();
    lexer_.Next();
  }
}

}  // namespace shoal::internal
