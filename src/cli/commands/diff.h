// shoal diff: prints the semantic differences between two modules.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::cli {

struct DiffFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string on, a, b;
  std::vector<std::string> thresholds;
  int64_t top = 8;
  bool exit_code = false;
};

// Returns the exit status.
int DiffCommand(const DiffFlags& flags);

}  // namespace shoal::cli
