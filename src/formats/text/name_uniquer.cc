#include <charconv>

#include "formats/text/module_parser.h"

namespace shoal::internal {
namespace {

bool IsAllowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

}  // namespace

std::string NameUniquer::Sanitized(std::string_view name) {
  std::string result(name);
  if (result.empty()) return result;
  bool letter = (result[0] >= 'a' && result[0] <= 'z') || (result[0] >= 'A' && result[0] <= 'Z');
  if (!letter) result[0] = '_';
  for (char& c : result)
    if (!IsAllowed(c)) c = '_';
  std::optional<ElementType> type = ParseElementType(result);
  if (type && *type != ElementType::kTuple && *type != ElementType::kBuffer) result += '_';
  // XLA's backends reserve names that begin with two underscores.
  if (result.starts_with("__") && !result.starts_with("__xla_")) result[0] = 'a';
  return result;
}

std::string NameUniquer::Unique(std::string_view name) {
  std::string root = Sanitized(name.empty() ? "name" : name);
  int64_t id = 0;
  bool numbered = false;
  size_t dot = root.rfind('.');
  if (dot != std::string::npos && dot > 0 && dot + 1 < root.size()) {
    const char* end = root.data() + root.size();
    auto [stop, error] = std::from_chars(root.data() + dot + 1, end, id);
    numbered = error == std::errc() && stop == end;
    if (numbered) root.resize(dot);
    if (!numbered) id = 0;
  }
  Ids& ids = roots_[root];
  if (!ids.used.insert(id).second) {
    while (!ids.used.insert(ids.next).second) ++ids.next;
    id = ids.next++;
  }
  if (id == 0 && !numbered) return root;
  // A name without a number stays unchanged only if its id is 0. An explicit number 0 is kept.
  if (id == 0) return StrCat(root, ".0");
  return StrCat(root, ".", id);
}

}  // namespace shoal::internal
