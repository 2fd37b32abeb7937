// The verbs, one file each: each adds itself to the command line and runs.
#pragma once

#include <functional>

#include "CLI/CLI.hpp"

namespace shoal {

// What a verb does when it was called; the exit status.
using Run = std::function<int()>;

Run AddCheck(CLI::App& shoal);
Run AddComm(CLI::App& shoal);
Run AddCompare(CLI::App& shoal);
Run AddCost(CLI::App& shoal);
Run AddDiff(CLI::App& shoal);
Run AddMachines(CLI::App& shoal);
Run AddMem(CLI::App& shoal);
Run AddOps(CLI::App& shoal);
Run AddOpt(CLI::App& shoal);
Run AddPrint(CLI::App& shoal);
Run AddReport(CLI::App& shoal);
Run AddRun(CLI::App& shoal);
Run AddShow(CLI::App& shoal);
Run AddStats(CLI::App& shoal);
Run AddTime(CLI::App& shoal);

}  // namespace shoal
