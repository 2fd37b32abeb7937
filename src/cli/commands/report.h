// shoal report: writes a self-contained HTML page.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::cli {

struct ReportFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string backend;
  std::string a, b, out, budget;
  std::vector<std::string> on, traces;
  int64_t devices_per_node = 8;
};

// Returns the exit status.
int ReportCommand(const ReportFlags& flags);

}  // namespace shoal::cli
