// shoal opt: runs passes on a module and prints the result.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct OptFlags {
  CommonFlags common;
  std::string file, output;
  std::vector<std::string> passes, disabled, print_after;
  bool list_passes = false, time = false, communication = false;
};

// Returns the exit status.
int OptCommand(const OptFlags& flags);

}  // namespace shoal::cli
