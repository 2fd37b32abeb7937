#include "present/reports/machines_report.h"

#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/reports/json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

Json ParametersJson(Machine machine) {
  Json parameters = Json::object();
  for (const MachineParameter& entry : MachineParameters()) {
    Json row = {{"value", entry.at(machine)}, {"unit", entry.unit}};
    if (auto source = machine.sources.find(std::string(entry.name)); source != machine.sources.end())
      row["source"] = source->second;
    parameters[std::string(entry.name)] = std::move(row);
  }
  return parameters;
}

}  // namespace

std::string MachinesText(const std::vector<Machine>& machines, const TextStyle& style) {
  Table table({"name", "description", ">bf16", ">f8", ">memory", ">bandwidth", ">intra-node", ">devices/node", ">NIC"});
  for (const Machine& m : machines) {
    const bool torus = m.node.links == NodeLinks::kTorus;
    const double links = torus ? 2 * static_cast<double>(m.torus.dims.size()) * m.torus.link : m.node.bandwidth;
    table.Add({m.family, m.description, FormatSi(m.device.peak.bf16), m.device.peak.f8 > 0 ? FormatSi(m.device.peak.f8) : "-",
               FormatSi(m.device.memory) + "B", FormatSi(m.device.bandwidth) + "B/s", FormatSi(links) + "B/s", FormatSi(m.node.devices),
               FormatSi(m.cluster.nic) + "B/s"});
  }
  return table.ToText(style);
}

std::string MachineText(Machine machine, const TextStyle& style) {
  Table table({"parameter", ">value", "description", "source"});
  for (const MachineParameter& entry : MachineParameters()) {
    const auto source = machine.sources.find(std::string(entry.name));
    table.Add({std::string(entry.name), StrCat(FormatSi(entry.at(machine)), entry.unit), std::string(entry.what),
               source == machine.sources.end() ? "" : source->second});
  }
  return StrCat(machine.name, ": ", machine.description, "\n\n", table.ToText(style));
}

std::string MachinesJson(const std::vector<Machine>& machines) {
  Json all = {{"version", kJsonVersion}, {"machines", Json::array()}};
  for (const Machine& machine : machines)
    all["machines"].push_back({{"name", machine.name}, {"description", machine.description}, {"parameters", ParametersJson(machine)}});
  return JsonText(all);
}

}  // namespace shoal::internal
