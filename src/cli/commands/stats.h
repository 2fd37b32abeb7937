// shoal stats: summarizes an XLA dump directory.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct StatsFlags {
  CommonFlags common;
  std::string folder;
  int64_t top = 30;
  bool diff = false;
};

// Returns the exit status.
int StatsCommand(const StatsFlags& flags);

}  // namespace shoal::cli
