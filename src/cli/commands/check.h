// shoal check: reads and verifies.
#pragma once

#include "cli/commands/input.h"

namespace shoal::internal {

struct CheckFlags {
  CommonFlags common;
  std::vector<std::string> files;
};

// The exit status.
int CheckVerb(const CheckFlags& flags);

}  // namespace shoal::internal
