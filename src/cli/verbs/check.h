// shoal check: reads and verifies.
#pragma once

#include "cli/verbs/input.h"

namespace shoal {

struct CheckFlags {
  CommonFlags common;
  std::vector<std::string> files;
};

// The exit status.
int CheckVerb(const CheckFlags& flags);

}  // namespace shoal
