#include "cli/commands/run_limits.h"

#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/base/environment_error.h"
#include "execute/data/generate.h"
#include "execute/interp/memory_preflight.h"

namespace shoal::internal {

void RunLimits::ApplyTo(RunSettings& settings) const {
  settings.max_instructions = max_instructions;
  settings.max_seconds = max_seconds;
  settings.max_bytes = ParseBytes(max_memory).value_or(0);
}

Status RunLimits::Check(const Module& module, const InferredGrid& devices) const {
  SHOAL_TRY(CheckRunnable(module, devices));
  const std::optional<int64_t> limit = ParseBytes(max_memory);
  const double bytes = ArgumentBytes(module);
  if (!limit || bytes <= static_cast<double>(*limit)) return {};
  return EnvironmentError(StrCat("a device's arguments need ", FormatBytes(bytes), ", more than --max_memory allows"));
}

}  // namespace shoal::internal
