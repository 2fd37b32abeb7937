// Lines of a document, and conversion between byte offsets and the positions of LSP.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal::internal {

// The unit of Position::character.
enum class PositionEncoding : uint8_t { kUtf8, kUtf16, kUtf32 };

struct Position {
  uint32_t line = 0, character = 0;  // zero-based
};

class Lines {
 public:
  // Lines end in \n, \r\n or \r. The text must outlive the object.
  explicit Lines(std::string_view text);

  uint32_t count() const { return static_cast<uint32_t>(starts_.size()); }
  uint32_t LineOf(uint32_t offset) const;
  uint32_t StartOf(uint32_t line) const { return starts_[line]; }
  // The line without its line break.
  std::string_view TextOf(uint32_t line) const;
  Position PositionOf(uint32_t offset, PositionEncoding encoding) const;
  // A position past the end of its line, or of the text, is the end of it.
  uint32_t OffsetOf(Position position, PositionEncoding encoding) const;

 private:
  std::string_view text_;
  std::vector<uint32_t> starts_;
};

// Length of a UTF-8 text in the unit of `encoding`. Bytes that are not UTF-8 count as one.
uint32_t LengthIn(std::string_view text, PositionEncoding encoding);

}  // namespace shoal::internal
