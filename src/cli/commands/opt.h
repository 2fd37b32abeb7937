// shoal opt: runs passes over a module and prints what they made of it.
#pragma once

#include "cli/commands/input.h"

namespace shoal::internal {

struct OptFlags {
  CommonFlags common;
  std::string file, output;
  std::vector<std::string> passes, disabled, print_after;
  bool list_passes = false, time = false, communication = false;
};

// The exit status.
int OptVerb(const OptFlags& flags);

}  // namespace shoal::internal
