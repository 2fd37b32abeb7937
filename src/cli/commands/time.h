// shoal time: how long a step takes on a machine, and where the time goes.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::internal {

struct TimeFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file, explain, trace, sweep, against;
  std::vector<std::string> on, set;
  std::optional<int64_t> num_replicas, num_partitions;
  size_t top = 10;
  bool all = false;
};

// The exit status.
int TimeVerb(const TimeFlags& flags);

}  // namespace shoal::internal
