#include "serve/documents/lines.h"

#include <algorithm>
#include <cstring>

namespace shoal::internal {
namespace {

// Bytes of the UTF-8 character at the beginning of `text`; 1 for a byte that does not begin one.
size_t CharacterBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
  if (length > text.size()) return 1;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 1;
  return length;
}

uint32_t UnitsOf(size_t bytes, PositionEncoding encoding) {
  if (encoding == PositionEncoding::kUtf8) return static_cast<uint32_t>(bytes);
  return encoding == PositionEncoding::kUtf16 && bytes == 4 ? 2 : 1;
}

bool IsAscii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

Lines::Lines(std::string_view text) : text_(text) {
  starts_.push_back(0);
  const bool has_carriage_returns = text.find('\r') != std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!has_carriage_returns) {
      const void* found = std::memchr(text.data() + i, '\n', text.size() - i);
      if (found == nullptr) break;
      i = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    } else if (text[i] == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else if (text[i] != '\n') {
      continue;
    }
    starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

uint32_t Lines::LineOf(uint32_t offset) const {
  return static_cast<uint32_t>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin()) - 1;
}

std::string_view Lines::TextOf(uint32_t line) const {
  const size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text_.size();
  std::string_view text = text_.substr(starts_[line], end - starts_[line]);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Position Lines::PositionOf(uint32_t offset, PositionEncoding encoding) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  const uint32_t line = LineOf(offset);
  const std::string_view before = text_.substr(starts_[line], offset - starts_[line]);
  return {line, LengthIn(before, encoding)};
}

uint32_t Lines::OffsetOf(Position position, PositionEncoding encoding) const {
  if (position.line >= starts_.size()) return static_cast<uint32_t>(text_.size());
  const std::string_view line = TextOf(position.line);
  size_t at = 0;
  for (uint32_t units = 0; at < line.size() && units < position.character;) {
    const size_t bytes = CharacterBytes(line.substr(at));
    units += UnitsOf(bytes, encoding);
    if (encoding == PositionEncoding::kUtf8 && units > position.character) break;  // inside a character: its beginning
    at += bytes;
  }
  return starts_[position.line] + static_cast<uint32_t>(at);
}

uint32_t LengthIn(std::string_view text, PositionEncoding encoding) {
  if (encoding == PositionEncoding::kUtf8 || IsAscii(text)) return static_cast<uint32_t>(text.size());
  uint32_t units = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CharacterBytes(text.substr(at));
    units += UnitsOf(bytes, encoding);
    at += bytes;
  }
  return units;
}

}  // namespace shoal::internal
