#include "core/base/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace shoal::internal {
namespace {

constexpr std::string_view kColors[] = {color::kReset,   color::kBold,       color::kFaint,   color::kYellow,
                                        color::kBoldRed, color::kBoldYellow, color::kBoldBlue};

// A decoded UTF-8 character: its length in bytes (0: invalid) and its code point.
struct Character {
  size_t bytes = 0;
  uint32_t code = 0;
};

Character CharacterAt(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {1, first};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = code << 6 | (byte & 0x3f);
  }
  const uint32_t min_code[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < min_code[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {bytes, code};
}

bool IsHarmless(uint32_t code) {
  const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
  const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !control && !direction;
}

// Appends a character that must not be printed as it is. Returns its size in `text`.
size_t AppendEscape(std::string& out, std::string_view text, const Character& character) {
  const bool is_code = character.bytes > 1;
  char escaped[16];
  std::snprintf(escaped, sizeof(escaped), is_code ? "\\u%04x" : "\\x%02x",
                is_code ? character.code : static_cast<uint32_t>(static_cast<uint8_t>(text[0])));
  out += escaped;
  return std::max<size_t>(character.bytes, 1);
}

// Length of the shoal colour code at the beginning of `text`, or 0.
size_t ColorAt(std::string_view text) {
  for (std::string_view each : kColors)
    if (text.starts_with(each)) return each.size();
  return 0;
}

bool IsPlain(char c) { return c >= ' ' && c < 127; }

}  // namespace

std::string EscapeForTerminal(std::string_view text, bool has_colors) {
  std::string out;
  out.reserve(text.size());
  auto keep = [&](size_t bytes) {
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  };
  while (!text.empty()) {
    keep(static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsPlain) - text.begin()));
    if (text.empty()) break;
    const Character character = CharacterAt(text);
    if (const size_t bytes = has_colors ? ColorAt(text) : 0; bytes > 0) {
      keep(bytes);
    } else if (character.bytes > 0 && IsHarmless(character.code)) {
      keep(character.bytes);
    } else {
      text.remove_prefix(AppendEscape(out, text, character));
    }
  }
  return out;
}

std::string EscapeName(std::string_view name) {
  if (std::ranges::all_of(name, IsPlain)) return std::string(name);
  std::string out;
  while (!name.empty()) {
    const Character character = CharacterAt(name);
    const bool is_kept = character.bytes > 0 && IsHarmless(character.code) && character.code >= ' ';
    if (is_kept) out += name.substr(0, character.bytes);
    name.remove_prefix(is_kept ? character.bytes : AppendEscape(out, name, character));
  }
  return out;
}

std::string EscapeJsonForTerminal(std::string json) {
  for (size_t at = json.find('\x7f'); at != std::string::npos; at = json.find('\x7f', at)) json.replace(at, 1, "\\u007f");
  return json;
}

}  // namespace shoal::internal
