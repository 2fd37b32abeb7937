#include "serve/mcp/budget.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

size_t SizeOf(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace).size(); }

struct List {
  json* array = nullptr;
  std::string path;
  size_t bytes = 0;
};

// All lists with at least two elements. Numbers in paths, which are indices of outer lists, become '*'.
void CollectLists(json& value, const std::string& path, std::vector<List>& lists) {
  if (value.is_array()) {
    if (value.size() > 1) lists.push_back({&value, path, SizeOf(value)});
    for (json& element : value) CollectLists(element, path + "/*", lists);
  } else if (value.is_object()) {
    for (auto& [key, member] : value.items()) CollectLists(member, path.empty() ? key : StrCat(path, "/", key), lists);
  }
}

void ShortenStrings(json& value, size_t most) {
  if (value.is_string() && value.get_ref<const std::string&>().size() > most) {
    std::string text = value.get<std::string>().substr(0, most);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    value = text + "…";
  }
  if (value.is_structured())
    for (json& element : value) ShortenStrings(element, most);
}

}  // namespace

void FitToBudget(json& value, const std::string& list, int64_t offset, size_t bytes) {
  std::map<std::string, std::pair<size_t, size_t>> left_out;  // by path: shown and total
  if (const auto found = value.find(list); found != value.end() && found->is_array()) {
    const size_t total = found->size();
    const size_t skipped = std::min(static_cast<size_t>(std::max<int64_t>(offset, 0)), total);
    found->erase(found->begin(), found->begin() + static_cast<std::ptrdiff_t>(skipped));
    if (skipped > 0) left_out[list] = {found->size(), total};
  }
  constexpr size_t kReserve = 200;  // for "left_out" itself
  const size_t target = std::max(bytes, 2 * kReserve) - kReserve;
  while (SizeOf(value) > target) {
    std::vector<List> lists;
    CollectLists(value, "", lists);
    if (lists.empty()) break;
    const List& largest = *std::max_element(lists.begin(), lists.end(), [](const List& a, const List& b) {
      return a.bytes < b.bytes;
    });
    json& array = *largest.array;
    const size_t excess = SizeOf(value) - target, before = array.size();
    // Proportional to the excess, at least one element, and never the last one.
    const size_t removed = std::clamp<size_t>(before * excess / std::max<size_t>(largest.bytes, 1), 1, before - 1);
    auto& counts = left_out[largest.path];
    if (counts.second == 0) counts.second = before;
    array.erase(array.end() - static_cast<std::ptrdiff_t>(removed), array.end());
    counts.first = array.size();
  }
  for (size_t most = 2000; SizeOf(value) > target && most >= 60; most /= 2) ShortenStrings(value, most);
  if (left_out.empty()) return;
  json rows = json::array();
  for (const auto& [path, counts] : left_out) {
    json row = {{"list", path}, {"shown", counts.first}, {"total", counts.second}};
    const size_t next = static_cast<size_t>(std::max<int64_t>(offset, 0)) + counts.first;
    if (path == list && next < counts.second) row["next_offset"] = next;
    rows.push_back(std::move(row));
  }
  value["left_out"] = std::move(rows);
}

std::string FirstLines(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  const size_t end = text.rfind('\n', bytes);
  const size_t kept = end == std::string::npos ? bytes : end + 1;
  const auto rest = std::count(text.begin() + static_cast<std::ptrdiff_t>(kept), text.end(), '\n');
  return StrCat(text.substr(0, kept), "(", rest, " more lines)\n");
}

}  // namespace shoal::internal
