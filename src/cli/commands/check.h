// shoal check: reads and verifies modules.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct CheckFlags {
  CommonFlags common;
  std::vector<std::string> files;
};

// Returns the exit status.
int CheckCommand(const CheckFlags& flags);

}  // namespace shoal::cli
