#include "cli/commands/loop_flags.h"

#include <charconv>
#include <set>

#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// The number after the last "=", if it is valid.
template <class Number>
std::optional<Number> NumberOf(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return std::nullopt;
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string NameOf(const std::string& text) {
  const std::string name = text.substr(0, text.rfind('='));
  return name.starts_with('%') ? name.substr(1) : name;
}

}  // namespace

std::string LoopFlags::ValidateTripCount(const std::string& text) {
  const std::optional<int64_t> number = NumberOf<int64_t>(text);
  return number && *number >= 0 ? "" : StrCat("must be NAME=N with an integer N >= 0, got ", text);
}

std::string LoopFlags::ValidateProbability(const std::string& text) {
  const std::optional<double> number = NumberOf<double>(text);
  return number && *number >= 0 && *number <= 1 ? "" : StrCat("must be NAME=P with P in [0, 1], got ", text);
}

Result<ExecutionOptions> LoopFlags::ExecutionOptionsFor(std::initializer_list<const Module*> modules) const {
  ExecutionOptions options;
  if (trips.empty() && probabilities.empty()) return options;
  for (const std::string& text : trips) {
    if (Status known = CheckLoopName(NameOf(text), modules); !known.ok())
      return EnvironmentError(StrCat("--trips=", NameOf(text), "=…: ", known.diag().message));
    options.trips[NameOf(text)] = *NumberOf<int64_t>(text);
  }
  for (const std::string& text : probabilities) {
    if (Status known = CheckBranchName(NameOf(text), modules); !known.ok())
      return EnvironmentError(StrCat("--probability=", NameOf(text), "=…: ", known.diag().message));
    options.probabilities[NameOf(text)] = *NumberOf<double>(text);
  }
  return options;
}

}  // namespace shoal::internal
