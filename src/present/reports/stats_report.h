// What `shoal stats` says when it is done.
#pragma once

#include "analyze/diff/stage_changes.h"
#include "analyze/summary/totals.h"
#include "formats/files/dump_files.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct ModuleStats {
  const DumpedModule* dumped = nullptr;
  std::string final_file;  // the one that the figures are of
  ModuleTotals totals;
  std::vector<StageChanges> stages;  // from the first to the last, if that was asked
};

struct StatsReport {
  std::string folder;
  DumpFolder dump;
  std::vector<ModuleStats> modules;                             // of which a file could be read
  std::vector<std::pair<std::string, std::string>> unreadable;  // path and why
  std::vector<std::string> assumptions;

  // Of all modules together.
  ModuleTotals Sum() const;
};

// For people: a row for each module, at most `top` (0: all), those that compute most first.
std::string StatsText(const StatsReport& report, int64_t top, const TextStyle& style = OutputStyle());
// For programs; docs/stats.md says what stands in it.
std::string StatsJson(const StatsReport& report);

}  // namespace shoal::internal
