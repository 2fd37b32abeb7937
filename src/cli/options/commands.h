// The commands. Each Add function declares the options of one command and returns the action that runs it.
#pragma once

#include "cli/options/options.h"

namespace shoal::cli {

Action AddCheck(Options& command);
Action AddComm(Options& command);
Action AddCompare(Options& command);
Action AddCompletion(Options& command);
Action AddCost(Options& command);
Action AddDiff(Options& command);
Action AddLsp(Options& command);
Action AddMachines(Options& command);
Action AddMan(Options& command);
Action AddMcp(Options& command);
Action AddMem(Options& command);
Action AddOps(Options& command);
Action AddOpt(Options& command);
Action AddPrint(Options& command);
Action AddReport(Options& command);
Action AddRun(Options& command);
Action AddShow(Options& command);
Action AddStats(Options& command);
Action AddTime(Options& command);

}  // namespace shoal::cli
