// shoal cost: counts flops, transcendentals and bytes, with loop bodies multiplied by trip count.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::cli {

struct CostFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file;
  CostOptions options;
};

// Returns the exit status.
int CostCommand(const CostFlags& flags);

}  // namespace shoal::cli
