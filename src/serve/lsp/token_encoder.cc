#include "serve/lsp/token_encoder.h"

#include <algorithm>

namespace shoal::internal {

void TokenEncoder::Add(uint32_t offset, uint32_t end, TokenClass token_class) {
  const Lines& lines = view_.snapshot->lines();
  while (offset < end) {
    const uint32_t line = lines.LineOf(offset);
    const uint32_t line_end = lines.StartOf(line) + static_cast<uint32_t>(lines.TextOf(line).size());
    const uint32_t stop = std::min(end, line_end);
    if (stop > offset) AddInLine(line, offset, stop, token_class);
    if (line + 1 >= lines.count()) return;
    offset = std::max(stop, lines.StartOf(line + 1));
  }
}

void TokenEncoder::AddInLine(uint32_t line, uint32_t offset, uint32_t end, TokenClass token_class) {
  const std::string_view text = view_.snapshot->text();
  if (line != line_) {
    at_ = view_.snapshot->lines().StartOf(line);
    character_ = 0;
  }
  const uint32_t character = character_ + LengthIn(text.substr(at_, offset - at_), view_.encoding);
  const bool same_line = !data_.empty() && line == last_line_;
  data_.insert(data_.end(), {line - last_line_, same_line ? character - last_character_ : character,
                             LengthIn(text.substr(offset, end - offset), view_.encoding),
                             static_cast<uint32_t>(token_class.type), token_class.modifiers});
  line_ = last_line_ = line;
  last_character_ = character_ = character;
  at_ = offset;
}

}  // namespace shoal::internal
