// shoal machines: the machines that time knows.
#pragma once

#include "cli/verbs/input.h"

namespace shoal {

struct MachinesFlags {
  std::string name;
  CommonFlags common;
};

// The exit status.
int MachinesVerb(const MachinesFlags& flags);

}  // namespace shoal
