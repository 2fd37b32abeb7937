// shoal time: predicts the step time on a machine, with a breakdown.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::cli {

struct TimeFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file, b, explain, trace, sweep, against, backend;
  std::vector<std::string> on, set;
  std::optional<int64_t> num_replicas, num_partitions;
  size_t top = 10;
  bool all = false;
};

// Returns the exit status.
int TimeCommand(const TimeFlags& flags);

}  // namespace shoal::cli
