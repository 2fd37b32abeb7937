// What `shoal machines` says.
#pragma once

#include <string>
#include <vector>

#include "analyze/cost/machine.h"

namespace shoal::internal {

// A row each.
std::string MachinesText(const std::vector<Machine>& machines);
// All figures of one, with their sources.
std::string MachineText(Machine machine);
std::string MachinesJson(const std::vector<Machine>& machines);

}  // namespace shoal::internal
