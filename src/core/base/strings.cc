#include "core/base/strings.h"

#include <algorithm>

#include "absl/strings/escaping.h"

namespace shoal::internal {

std::string Hex(uint64_t value) {
  char buffer[20];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value, 16).ptr};
}

void AppendEscaped(std::string& out, std::string_view text) {
  auto plain = [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\' && c != '\''; };
  if (std::all_of(text.begin(), text.end(), plain)) {
    out += text;
  } else {
    out += absl::CEscape({text.data(), text.size()});
  }
}

bool Unescape(std::string_view text, std::string* out) { return absl::CUnescape({text.data(), text.size()}, out); }

}  // namespace shoal::internal
