// What a run holds in memory, worked out without computing: the same plan, the same sharing and writing in place, with
// arrays that have sizes but no elements.
#pragma once

#include "devices/participation.h"
#include "interp/plan.h"

namespace shoal {

// What only the elements would tell.
struct DryRunAnswers {
  // How often a while goes round; nothing: as often as it takes until every further round holds the same.
  std::function<std::optional<int64_t>(const Instruction& loop)> trips;
};

struct DryRunResult {
  int64_t peak_bytes = 0;  // as RunStats has it
  // What was not known and taken for the larger: which branch a conditional takes, the size of a dynamic dimension.
  std::vector<const Instruction*> guesses;
  bool complete = true;  // false: there is more to go through than anybody would wait for, and the rest was not looked at
};

// One device's part of RunModule. The module was verified.
DryRunResult DryRun(const Plans& plans, const Participation& participation, int64_t device,
                    const DryRunAnswers& answers);

}  // namespace shoal
