// shoal print: prints a module as canonical text or in another format.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct PrintFlags {
  CommonFlags common;
  std::string file, format = "hlo", output;
  bool elide_large_constants = false;
};

// Returns the exit status.
int PrintCommand(const PrintFlags& flags);

}  // namespace shoal::cli
