// The output of `shoal machines`.
#pragma once

#include <string>
#include <vector>

#include "analyze/cost/machine.h"

namespace shoal::internal {

// One row per machine.
std::string MachinesText(const std::vector<Machine>& machines);
// All parameters of one machine, with their sources.
std::string MachineText(Machine machine);
std::string MachinesJson(const std::vector<Machine>& machines);

}  // namespace shoal::internal
