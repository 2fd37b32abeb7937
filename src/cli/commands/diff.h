// shoal diff: what changed in meaning between two modules.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::internal {

struct DiffFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string a, b;
  std::vector<std::string> thresholds;
  int64_t top = 8;
  bool exit_code = false;
};

// The exit status.
int DiffVerb(const DiffFlags& flags);

}  // namespace shoal::internal
