// shoal cost: flops, transcendentals and bytes, with loops counted as often as they run.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::internal {

struct CostFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file, by = "op";
  int64_t top = 20;
};

// The exit status.
int CostVerb(const CostFlags& flags);

}  // namespace shoal::internal
