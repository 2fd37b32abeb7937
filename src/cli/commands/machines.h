// shoal machines: lists the machines for `shoal time`.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct MachinesFlags {
  std::string name;
  bool yaml = false, keys = false;
  CommonFlags common;
};

// Returns the exit status.
int MachinesCommand(const MachinesFlags& flags);

}  // namespace shoal::cli
