#include "verbs/run_limits.h"

#include "base/strings.h"
#include "base/units.h"
#include "base/world.h"
#include "data/generate.h"

namespace shoal {

void RunLimits::Set(RunSettings& settings) const {
  settings.most_instructions = max_steps;
  settings.most_seconds = max_seconds;
  settings.most_bytes = BytesNamed(max_memory).value_or(0);
}

Status RunLimits::Check(const Module& module, const InferredGrid& devices) const {
  if (devices.grid.count() > kMostDevices)
    return WorldFailed(StrCat(devices.from, ", are more than the ", kMostDevices, " that are possible"));
  const std::optional<int64_t> most = BytesNamed(max_memory);
  const double bytes = ArgumentBytes(module);
  if (!most || bytes <= static_cast<double>(*most)) return {};
  return WorldFailed(StrCat("a device's arguments take ", Bytes(bytes), ", more than --max_memory allows"));
}

}  // namespace shoal
