// The output of `shoal machines`.
#pragma once

#include <string>
#include <vector>

#include "analyze/cost/machine.h"
#include "present/reports/text_style.h"

namespace shoal::internal {

// One row per machine.
std::string MachinesText(const std::vector<Machine>& machines, const TextStyle& style);
// All parameters of one machine, with their sources.
std::string MachineText(Machine machine, const TextStyle& style);
std::string MachinesJson(const std::vector<Machine>& machines);
// The machine as a file that ReadMachine accepts.
std::string MachineYaml(Machine machine);
// A row for each key of a machine file.
std::string MachineKeysText(const TextStyle& style);

}  // namespace shoal::internal
