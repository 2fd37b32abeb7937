#include "core/ops/backend_config.h"

#include <charconv>

#include "core/ir/common_attrs.h"

namespace shoal::internal {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view Unquote(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

// Offset of the first character of `stops` outside quotes and brackets; the size of the text if there is none.
size_t FindOutside(std::string_view text, std::string_view stops) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (depth == 0 && stops.find(c) != std::string_view::npos) return i;
    if (c == '"') quoted = true;
    if (c == '{' || c == '[' || c == '<' || c == '(') ++depth;
    if ((c == '}' || c == ']' || c == '>' || c == ')') && depth > 0) --depth;
  }
  return text.size();
}

std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!Trim(text).empty()) {
    const size_t end = FindOutside(text, ",");
    parts.push_back(Trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

template <class T>
T ParseNumber(std::string_view text, T fallback) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : fallback;
}

}  // namespace

BackendConfig::BackendConfig(std::string_view text) {
  text = Trim(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return;
  for (std::string_view entry : SplitList(text.substr(1, text.size() - 2))) {
    const size_t separator = FindOutside(entry, "=:");
    std::string_view value = separator == entry.size() ? std::string_view() : Trim(entry.substr(separator + 1));
    // In MLIR, the type follows the value.
    if (separator != entry.size() && entry[separator] == '=') value = Trim(value.substr(0, FindOutside(value, ":")));
    entries_.emplace_back(Unquote(Trim(entry.substr(0, separator))), Unquote(value));
  }
}

BackendConfig BackendConfig::Of(const Instruction& hlo) { return BackendConfig(hlo[kBackendConfig]); }

const std::string_view* BackendConfig::Find(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return &value;
  return nullptr;
}

std::string_view BackendConfig::Text(std::string_view key, std::string_view fallback) const {
  const std::string_view* value = Find(key);
  return value == nullptr ? fallback : *value;
}

int64_t BackendConfig::Int(std::string_view key, int64_t fallback) const { return ParseNumber(Text(key), fallback); }

double BackendConfig::Number(std::string_view key, double fallback) const { return ParseNumber(Text(key), fallback); }

bool BackendConfig::Bool(std::string_view key, bool fallback) const {
  const std::string_view text = Text(key);
  return text == "true" || (text != "false" && fallback);
}

std::vector<std::string_view> BackendConfig::List(std::string_view key) const {
  std::string_view text = Text(key);
  const size_t open = text.find_first_of("[<");
  if (open == std::string_view::npos || text.size() < open + 2) return {};
  text = text.substr(open + 1, text.size() - open - 2);
  if (text.substr(0, 1) != "\"")
    if (const size_t colon = FindOutside(text, ":"); colon != text.size()) text.remove_prefix(colon + 1);
  return SplitList(text);
}

std::vector<int64_t> BackendConfig::Ints(std::string_view key) const {
  std::vector<int64_t> numbers;
  for (std::string_view part : List(key)) numbers.push_back(ParseNumber<int64_t>(Unquote(part), 0));
  return numbers;
}

}  // namespace shoal::internal
