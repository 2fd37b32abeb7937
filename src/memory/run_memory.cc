#include "memory/run_memory.h"

#include <unordered_set>

#include "base/strings.h"
#include "interp/dry_run/dry_run.h"

namespace shoal {

RunMemory RunMemoryOf(const Module& module, const Executions& executions, const DeviceGrid& grid) {
  RunMemory memory;
  const Plans plans(module);
  DryRunAnswers answers;
  answers.trips = [&](const Instruction& loop) -> std::optional<int64_t> {
    if (executions.Of(loop) == 0) return std::nullopt;
    const TripCount& trips = executions.TripsOf(loop);
    return trips.known() ? std::optional(trips.count) : std::nullopt;
  };
  std::unordered_set<const Instruction*> guessed;
  for (int64_t device = 0; device < grid.count(); ++device) {
    const DryRunResult result = DryRun(plans, grid, device, answers);
    memory.peak_bytes.push_back(result.peak_bytes);
    for (const Instruction* hlo : result.guesses)
      if (guessed.insert(hlo).second)
        memory.assumptions.push_back(StrCat(hlo->name, ": what a run holds depends on data; taken for the larger"));
  }
  return memory;
}

}  // namespace shoal
