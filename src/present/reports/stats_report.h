// The output of `shoal stats`.
#pragma once

#include "analyze/diff/stage_changes.h"
#include "analyze/summary/recompilations.h"
#include "analyze/summary/totals.h"
#include "formats/files/dump_files.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct ModuleStats {
  const DumpedModule* dumped = nullptr;
  std::string final_file;  // the file that the metrics are computed from
  ModuleTotals totals;
  std::vector<StageChanges> stages;  // in pass order, with --diff
  ProgramKey program;                // of the first readable stage, like the next two
  std::string_view role;             // "train step"; empty: unknown
  std::string line;                  // the line of the user's program with the largest cost
};

struct StatsReport {
  std::string folder;
  DumpFolder dump;
  std::vector<ModuleStats> modules;                             // modules with at least one readable file
  std::vector<std::pair<std::string, std::string>> unreadable;  // path and reason
  std::vector<std::string> assumptions;

  // Sums over all modules; the peak memory is a maximum.
  ModuleTotals Sum() const;
};

// A row per module, at most `top` (0: all), in descending order of flops.
std::string StatsText(const StatsReport& report, int64_t top, const TextStyle& style);
// JSON, as described in docs/stats.md.
std::string StatsJson(const StatsReport& report);

}  // namespace shoal::internal
