// shoal show: the execution skeleton of a module.
#pragma once

#include "cli/verbs/input.h"
#include "cli/verbs/loop_flags.h"
#include "present/reports/skeleton_text.h"

namespace shoal {

struct ShowFlags {
  CommonFlags common;
  LoopFlags loops;
  SkeletonOptions skeleton;
  SkeletonStyle style;
  std::string file;
};

// The exit status.
int ShowVerb(const ShowFlags& flags);

}  // namespace shoal
