// shoal machines: the machines that time knows.
#pragma once

#include "cli/commands/input.h"

namespace shoal::internal {

struct MachinesFlags {
  std::string name;
  CommonFlags common;
};

// The exit status.
int MachinesVerb(const MachinesFlags& flags);

}  // namespace shoal::internal
