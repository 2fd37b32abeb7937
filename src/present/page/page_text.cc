#include "present/page/page_text.h"

#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

std::string Fixed(double number, int digits, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f%s", digits, number, unit);
  return text;
}

}  // namespace

std::string Grouped(int64_t number) {
  std::string digits = StrCat(number);
  for (auto at = std::ssize(digits) - 3; at > (number < 0 ? 1 : 0); at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string Grouped(int64_t number, std::string_view noun) {
  return StrCat(Grouped(number), " ", noun, number == 1 ? "" : "s");
}

std::string ShortPercent(double fraction) { return Fixed(100 * fraction, fraction < 0.0995 ? 1 : 0, " %"); }

std::string ShortBytes(double bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  size_t unit = 0;
  for (; std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return Fixed(bytes, unit == 0 || std::abs(bytes) >= 99.95 ? 0 : 1, kUnits[unit]);
}

std::string ShortSeconds(double seconds) {
  static constexpr const char* kUnits[] = {" s", " ms", " µs", " ns"};
  if (std::abs(seconds) < 5e-12) return "0 s";
  size_t unit = 0;
  for (; std::abs(seconds) < 0.9995 && unit + 1 < std::size(kUnits); ++unit) seconds *= 1000;
  const double size = std::abs(seconds);
  return Fixed(seconds, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace shoal::internal
