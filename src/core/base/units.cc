#include "core/base/units.h"

#include <cctype>
#include <cmath>
#include <cstdio>

#include "core/base/numbers.h"
#include "core/base/strings.h"

namespace shoal::internal {

std::string FormatSi(double number) {
  static constexpr const char* kPrefixes[] = {"", " k", " M", " G", " T", " P", " E"};
  int prefix = 0;
  double scaled = std::fabs(number);
  for (; scaled >= 1000 && prefix < 6; ++prefix) scaled /= 1000;
  const bool whole = prefix == 0 && scaled == std::floor(scaled);
  const int digits = whole ? 0 : scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  char text[32];
  std::snprintf(text, sizeof(text), "%s%.*f", number < 0 ? "-" : "", digits, scaled);
  return StrCat(text, kPrefixes[prefix]);
}

std::string FormatBytes(double bytes) {
  static constexpr const char* kPrefixes[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  int prefix = 0;
  for (; bytes >= 1024 && prefix < 5; ++prefix) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", prefix == 0 ? 0 : 1, bytes);
  return StrCat(text, kPrefixes[prefix]);
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},    {"b", 1},   {"kb", 1e3}, {"mb", 1e6},     {"gb", 1e9},     {"tb", 1e12},    {"k", 1e3},
      {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30}, {"tib", 0x1p40}};
  const std::optional<double> number = TakeNumber(text);
  if (!number || *number < 0) return std::nullopt;
  std::string unit;
  for (char c : text)
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [name, bytes] : kUnits)
    if (name == unit && *number * bytes < 0x1p62) return static_cast<int64_t>(std::llround(*number * bytes));
  return std::nullopt;
}

std::string Pluralize(int64_t count, const char* noun) { return StrCat(count, " ", noun, count == 1 ? "" : "s"); }

}  // namespace shoal::internal
