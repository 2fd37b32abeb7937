// shoal mem: what a module keeps in memory, and when most.
#pragma once

#include "cli/commands/input.h"

namespace shoal::internal {

struct MemFlags {
  CommonFlags common;
  std::string file, budget, backend;
  int64_t top = 10;
  bool run = false;
};

// The exit status.
int MemVerb(const MemFlags& flags);

}  // namespace shoal::internal
