#include "cli/commands/loop_flags.h"

#include <set>

#include "core/base/numbers.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "core/ops/op.h"

namespace shoal::internal {
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

Result<ExecutionOptions> LoopFlags::ExecutionOptionsFor(std::initializer_list<const Module*> modules) const {
  ExecutionOptions options;
  if (trips.empty() && probabilities.empty()) return options;
  for (const std::string& text : trips) {
    if (Status known = CheckLoopName(NameOf(text), modules); !known.ok())
      return EnvironmentError(StrCat("--trips=", NameOf(text), "=…: ", known.diag().message));
    options.trips[NameOf(text)] = *ParseInteger(ValueOf(text));
  }
  for (const std::string& text : probabilities) {
    if (Status known = CheckBranchName(NameOf(text), modules); !known.ok())
      return EnvironmentError(StrCat("--probability=", NameOf(text), "=…: ", known.diag().message));
    options.probabilities[NameOf(text)] = *ParseNumber(ValueOf(text));
  }
  return options;
}

}  // namespace shoal::internal
