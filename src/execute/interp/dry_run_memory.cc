#include "execute/interp/dry_run_memory.h"

#include <functional>
#include <map>
#include <unordered_set>

#include "core/base/strings.h"
#include "execute/interp/dry_run.h"

namespace shoal::internal {

RunMemory RunMemoryOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid) {
  RunMemory memory;
  bool complete = true;
  const Liveness liveness(module);
  const TripCountFunction trips_of = [&](const Instruction& loop) -> std::optional<int64_t> {
    if (executions.Of(loop) == 0) return std::nullopt;
    const TripCount& trips = executions.TripCountOfLoop(loop);
    return trips.known() ? std::optional(trips.count) : std::nullopt;
  };
  std::unordered_set<const Instruction*> guessed;
  const Participation participation(module, grid);
  std::map<int64_t, RunPeak, std::greater<>> peaks;
  for (const ParticipationClass& devices : participation.Classes()) {
    const DryRunResult result = DryRun(module, liveness, participation, devices.first, trips_of).Run();
    RunPeak& peak = peaks.try_emplace(result.peak_bytes, RunPeak{result.peak_bytes, 0, devices.first}).first->second;
    peak.devices += devices.count;
    peak.device = std::min(peak.device, devices.first);
    if (!result.complete && complete)
      memory.assumptions.push_back("too many instructions to simulate; the memory of later ones is not counted");
    complete &= result.complete;
    for (const Instruction* hlo : result.guesses)
      if (guessed.insert(hlo).second)
        memory.assumptions.push_back(StrCat(hlo->name, ": memory use depends on data; assuming the larger case"));
  }
  for (const auto& [bytes, peak] : peaks) memory.peaks.push_back(peak);
  return memory;
}

}  // namespace shoal::internal
