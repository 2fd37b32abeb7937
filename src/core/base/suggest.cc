#include "core/base/suggest.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxLength = 200;  // longer names are not compared

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string ClosestName(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > kMaxLength) return {};
  std::string best;
  size_t min = std::max<size_t>(1, name.size() / 3) + 1;  // a third of the letters may differ
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxLength) continue;
    const bool is_prefix = name.size() >= 3 && candidate.starts_with(name);
    const size_t distance = is_prefix ? 1 : EditDistance(name, candidate);
    if (distance < min && distance > 0) min = distance, best = candidate;
  }
  return best;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> candidates) {
  const std::string closest = ClosestName(name, candidates);
  return closest.empty() ? closest : StrCat("; did you mean '", closest, "'?");
}

}  // namespace shoal::internal
