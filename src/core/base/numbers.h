// Parses the numbers that a user gives: in options, machine files and assignments. All of these accept the same texts:
// decimal numbers that are finite.
#pragma once

#include <cfloat>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

// The values that are allowed for a number.
struct NumberRange {
  double min = -DBL_MAX, max = DBL_MAX;
  bool is_integer = false;
  bool allows_zero = false;  // zero is allowed even if `min` is positive (it means "not given")
};

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Removes a number from the beginning of the text. Nothing if the text does not begin with a finite decimal number. The
// number may have a minus sign. NaN, infinities, hexadecimal numbers and numbers with a plus sign are not accepted.
std::optional<double> TakeNumber(std::string_view& text);

// The number that makes up the whole text.
std::optional<double> ParseNumber(std::string_view text);
std::optional<int64_t> ParseInteger(std::string_view text);
std::optional<uint64_t> ParseUnsigned(std::string_view text);

// Fails if the number is outside the range: "must be in [1, 1e+06], got 0". The message is a predicate.
Status CheckRange(double number, const NumberRange& range);

}  // namespace shoal::internal
