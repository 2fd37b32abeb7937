// shoal show: the execution skeleton of a module.
#pragma once

#include "report/skeleton_text.h"
#include "verbs/input.h"
#include "verbs/loop_flags.h"

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
