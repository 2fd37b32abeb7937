// String concatenation. Abseil's StrCat on Debian uses its own string_view and does not accept the standard one.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::internal {

inline void AppendPart(std::string& out, std::string_view part) { out += part; }
inline void AppendPart(std::string& out, char part) { out += part; }
inline void AppendPart(std::string& out, std::integral auto part) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), part).ptr);
}
// Six significant digits, like printf's %g.
inline void AppendPart(std::string& out, std::floating_point auto part) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), part, std::chars_format::general, 6).ptr);
}

template <class... Parts>
void StrAppend(std::string* out, const Parts&... parts) {
  (AppendPart(*out, parts), ...);
}

template <class... Parts>
std::string StrCat(const Parts&... parts) {
  std::string out;
  StrAppend(&out, parts...);
  return out;
}

template <class Range>
std::string StrJoin(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : range) {
    if (!first) out += separator;
    first = false;
    AppendPart(out, part);
  }
  return out;
}

// Calls `append(&out, part)` for each part.
template <class Range, class Append>
std::string StrJoin(const Range& range, std::string_view separator, Append append) {
  std::string out;
  bool first = true;
  for (const auto& part : range) {
    if (!first) out += separator;
    first = false;
    append(&out, part);
  }
  return out;
}

std::string Hex(uint64_t value);  // "1a"
// Escapes newlines, quotes, backslashes and unprintable bytes as in C. Unescape is the inverse; it returns false if C
// does not have an escape.
void AppendEscaped(std::string& out, std::string_view text);
bool Unescape(std::string_view text, std::string* out);

}  // namespace shoal::internal
