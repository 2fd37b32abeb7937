// Putting strings together. Abseil's StrCat on Debian has a string_view of its own and refuses the standard one.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::internal {

inline void AppendPiece(std::string& out, std::string_view piece) { out += piece; }
inline void AppendPiece(std::string& out, char piece) { out += piece; }
inline void AppendPiece(std::string& out, std::integral auto piece) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), piece).ptr);
}
// Six digits, as printf's %g.
inline void AppendPiece(std::string& out, std::floating_point auto piece) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), piece, std::chars_format::general, 6).ptr);
}

template <class... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  (AppendPiece(*out, pieces), ...);
}

template <class... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  StrAppend(&out, pieces...);
  return out;
}

template <class Range>
std::string StrJoin(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& piece : range) {
    if (!first) out += separator;
    first = false;
    AppendPiece(out, piece);
  }
  return out;
}

// With `append(&out, piece)` for each piece.
template <class Range, class Append>
std::string StrJoin(const Range& range, std::string_view separator, Append append) {
  std::string out;
  bool first = true;
  for (const auto& piece : range) {
    if (!first) out += separator;
    first = false;
    append(&out, piece);
  }
  return out;
}

std::string Hex(uint64_t value);  // "1a"
// "\n", "\"", "\\" and unprintable bytes as C writes them, and back; false for an escape C does not have.
void AppendEscaped(std::string& out, std::string_view text);
bool Unescape(std::string_view text, std::string* out);

}  // namespace shoal::internal
