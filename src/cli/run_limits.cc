#include "cli/run_limits.h"

#include "base/strings.h"
#include "base/units.h"
#include "base/world.h"
#include "data/generate.h"

namespace shoal {

void RunLimits::AddTo(Options& verb) {
  verb.Value("--max_steps", max_steps, "Give up when a device has run so many instructions; 0: never")
      .NotNegative();
  verb.Value("--max_seconds", max_seconds, "Give up after so long; 0: never").NotNegative();
  verb.Value("--max_memory", max_memory,
             "Give up when a device's arrays need more: 2GB, 512MiB; default: what the machine has")
      .Check([](const std::string& text) {
        return BytesNamed(text) ? std::string() : StrCat("not a number of bytes: ", text);
      });
}

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
