// The verbs, one file each: each declares its options and says what it does.
#pragma once

#include "cli/options/options.h"

namespace shoal::internal {

Run AddCheck(Options& verb);
Run AddComm(Options& verb);
Run AddCompare(Options& verb);
Run AddCost(Options& verb);
Run AddDiff(Options& verb);
Run AddMachines(Options& verb);
Run AddMem(Options& verb);
Run AddOps(Options& verb);
Run AddOpt(Options& verb);
Run AddPrint(Options& verb);
Run AddReport(Options& verb);
Run AddRun(Options& verb);
Run AddShow(Options& verb);
Run AddStats(Options& verb);
Run AddTime(Options& verb);

}  // namespace shoal::internal
