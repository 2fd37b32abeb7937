// shoal show: prints the execution skeleton of a module.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"
#include "present/reports/skeleton_text.h"

namespace shoal::internal {

struct ShowFlags {
  CommonFlags common;
  LoopFlags loops;
  SkeletonOptions skeleton;
  SkeletonStyle style;
  std::string file;
};

// Returns the exit status.
int ShowCommand(const ShowFlags& flags);

}  // namespace shoal::internal
