#include "present/reports/machines_report.h"

#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/reports/json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

Json FiguresOf(Machine machine) {
  Json figures = Json::object();
  for (const MachineParameter& figure : MachineParameters()) {
    Json row = {{"value", figure.at(machine)}, {"unit", figure.unit}};
    if (auto source = machine.sources.find(std::string(figure.name)); source != machine.sources.end())
      row["source"] = source->second;
    figures[std::string(figure.name)] = std::move(row);
  }
  return figures;
}

}  // namespace

std::string MachinesText(const std::vector<Machine>& machines) {
  Table table({"name", "what", ">bf16", ">f8", ">memory", ">bandwidth", ">in a node", ">node", ">network"});
  for (const Machine& m : machines) {
    const bool torus = m.node.links == NodeLinks::kTorus;
    const double links = torus ? 2 * static_cast<double>(m.torus.dims.size()) * m.torus.link : m.node.bandwidth;
    table.Add({m.family, m.description, FormatSi(m.device.peak.bf16), m.device.peak.f8 > 0 ? FormatSi(m.device.peak.f8) : "-",
               FormatSi(m.device.memory) + "B", FormatSi(m.device.bandwidth) + "B/s", FormatSi(links) + "B/s", FormatSi(m.node.devices),
               FormatSi(m.cluster.nic) + "B/s"});
  }
  return table.ToText();
}

std::string MachineText(Machine machine) {
  Table table({"figure", ">value", "what", "source"});
  for (const MachineParameter& figure : MachineParameters()) {
    const auto source = machine.sources.find(std::string(figure.name));
    table.Add({std::string(figure.name), StrCat(FormatSi(figure.at(machine)), figure.unit), std::string(figure.what),
               source == machine.sources.end() ? "" : source->second});
  }
  return StrCat(machine.name, ": ", machine.description, "\n\n", table.ToText());
}

std::string MachinesJson(const std::vector<Machine>& machines) {
  Json all = {{"version", kJsonVersion}, {"machines", Json::array()}};
  for (const Machine& machine : machines)
    all["machines"].push_back({{"name", machine.name}, {"description", machine.description}, {"parameters", FiguresOf(machine)}});
  return JsonText(all);
}

}  // namespace shoal::internal
