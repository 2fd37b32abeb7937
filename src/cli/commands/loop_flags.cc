#include "cli/commands/loop_flags.h"

#include "cli/commands/base.h"
#include "cli/commands/input.h"

namespace shoal::cli {

namespace {

// The text after the last "=".
std::string_view ValueOf(std::string_view text) {
  const size_t at = text.rfind('=');
  return at == std::string::npos || at == 0 ? std::string_view() : text.substr(at + 1);
}

std::string NameOf(const std::string& text) {
  const std::string name = text.substr(0, text.rfind('='));
  return name.starts_with('%') ? name.substr(1) : name;
}

}  // namespace

std::string LoopFlags::ValidateTripCount(const std::string& text) {
  const std::optional<int64_t> number = ParseInteger(ValueOf(text));
  return number && *number >= 0 ? "" : StrCat("must be NAME=N with an integer N >= 0, got ", text);
}

std::string LoopFlags::ValidateProbability(const std::string& text) {
  const std::optional<double> number = ParseNumber(ValueOf(text));
  return number && *number >= 0 && *number <= 1 ? "" : StrCat("must be NAME=P with P in [0, 1], got ", text);
}

FactOptions LoopFlags::ToFactOptions() const {
  FactOptions options;
  for (const std::string& text : trips) options.trip_counts[NameOf(text)] = *ParseInteger(ValueOf(text));
  for (const std::string& text : probabilities) options.probabilities[NameOf(text)] = *ParseNumber(ValueOf(text));
  return options;
}

}  // namespace shoal::cli
