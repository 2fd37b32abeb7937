// shoal show: prints the execution skeleton of a module.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::cli {

struct ShowFlags {
  CommonFlags common;
  LoopFlags loops;
  OutlineOptions options;
  std::string file;
};

// Returns the exit status.
int ShowCommand(const ShowFlags& flags);

}  // namespace shoal::cli
