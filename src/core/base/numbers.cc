#include "core/base/numbers.h"

#include <charconv>
#include <cmath>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// True if the text begins with digits, after a minus sign and a decimal point at most.
bool BeginsWithNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && IsDigit(text[0]);
}

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace

std::optional<double> TakeNumber(std::string_view& text) {
  if (!BeginsWithNumber(text)) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::optional<double> ParseNumber(std::string_view text) {
  const std::optional<double> number = TakeNumber(text);
  return text.empty() ? number : std::nullopt;
}

std::optional<int64_t> ParseInteger(std::string_view text) { return ParseWhole<int64_t>(text); }
std::optional<uint64_t> ParseUnsigned(std::string_view text) { return ParseWhole<uint64_t>(text); }

Status CheckRange(double number, const NumberRange& range) {
  const bool is_allowed_zero = range.allows_zero && number == 0;
  const bool is_inside = number >= range.min && number <= range.max;
  const bool is_fraction = range.is_integer && number != std::floor(number);
  if (std::isfinite(number) && !is_fraction && (is_inside || is_allowed_zero)) return {};
  return Fail(StrCat("must be ", range.is_integer ? "an integer " : "", range.allows_zero ? "0 or in [" : "in [",
                     range.min, ", ", range.max, "], got ", number));
}

}  // namespace shoal::internal
