// shoal mem: prints the peak memory of a module and the buffers live at the peak.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct MemFlags {
  CommonFlags common;
  std::string file, budget, backend;
  int64_t top = 10;
  bool run = false;
};

// Returns the exit status.
int MemCommand(const MemFlags& flags);

}  // namespace shoal::cli
