// shoal show: the execution skeleton of a module.
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

// The exit status.
int ShowVerb(const ShowFlags& flags);

}  // namespace shoal::internal
