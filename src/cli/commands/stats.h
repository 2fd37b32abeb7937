// shoal stats: an overview of a dump folder.
#pragma once

#include "cli/commands/input.h"

namespace shoal::internal {

struct StatsFlags {
  CommonFlags common;
  std::string folder;
  int64_t top = 30;
  bool diff = false;
};

// The exit status.
int StatsVerb(const StatsFlags& flags);

}  // namespace shoal::internal
