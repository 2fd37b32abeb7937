#include "present/reports/machines_report.h"

#include <algorithm>
#include <charconv>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/reports/json.h"
#include "present/reports/table.h"
#include "present/reports/time_report.h"

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

// True if the machine does not have the unit or the link that the parameter describes.
bool IsAbsent(Machine& machine, const MachineParameter& parameter) {
  if (machine.given.contains(std::string(parameter.name))) return false;
  const bool is_torus = parameter.name.starts_with("torus.");
  return is_torus ? machine.node.links != NodeLinks::kTorus : parameter.at(machine) == 0;
}

// A number that reads back as the same value.
std::string Exact(double value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc() ? std::string(text, end) : std::string("0");
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) StrAppend(&out, c == '"' || c == '\\' ? "\\" : "", std::string(1, c));
  return out + "\"";
}

}  // namespace

std::string MachineYaml(Machine machine) {
  static constexpr const char* kLinks[] = {"switch", "mesh", "torus"};
  std::string text = StrCat("name: ", machine.family, "\ndescription: ", Quoted(machine.description), "\n");
  if (!machine.accuracy.empty()) StrAppend(&text, "accuracy: ", Quoted(machine.accuracy), "\n");
  if (!machine.curves.empty()) StrAppend(&text, "collectives: ", machine.curves, "\n");
  std::vector<std::string> open;  // the sections of the last key
  for (const MachineParameter& entry : MachineParameters()) {
    if (IsAbsent(machine, entry)) continue;
    const std::vector<std::string> parts = Split(entry.name, '.');
    size_t shared = 0;
    while (shared < open.size() && shared + 1 < parts.size() && open[shared] == parts[shared]) ++shared;
    open.resize(shared);
    for (; shared + 1 < parts.size(); ++shared) {
      StrAppend(&text, std::string(2 * shared, ' '), parts[shared], ":\n");
      open.push_back(parts[shared]);
      const std::string indent(2 * shared + 2, ' ');
      if (open.size() > 1) continue;
      if (parts[0] == "device") StrAppend(&text, indent, "kind: ", machine.device.kind == DeviceKind::kTpu ? "tpu" : "gpu", "\n");
      if (parts[0] == "node") StrAppend(&text, indent, "links: ", kLinks[static_cast<size_t>(machine.node.links)], "\n");
      if (parts[0] == "torus" && !machine.torus.dims.empty()) StrAppend(&text, indent, "dims: [", StrJoin(machine.torus.dims, ", "), "]\n");
    }
    const auto source = machine.sources.find(std::string(entry.name));
    StrAppend(&text, std::string(2 * shared, ' '), parts.back(), ": ");
    const std::string value = StrCat(Exact(entry.at(machine)), entry.unit.empty() ? "" : " ", entry.unit);
    if (source == machine.sources.end()) StrAppend(&text, value, "\n");
    else StrAppend(&text, "{value: ", value, ", source: ", Quoted(source->second), "}\n");
  }
  return text;
}

std::string MachineKeysText(const TextStyle& style) {
  Table table({"key", "unit", ">default", "meaning"});
  table.Add({"name", "", "required", "the name of the machine"});
  table.Add({"base", "", "none", "a machine whose values this file overrides; then no key is required"});
  table.Add({"description", "", "", "one line"});
  table.Add({"accuracy", "", "", "the expected error of predictions, in words"});
  table.Add({"collectives", "", "none", "the device whose measured collective times apply: sm_90, sm_100, …"});
  table.Add({"device.kind", "", "gpu", "gpu or tpu"});
  table.Add({"node.links", "", "switch", "switch, mesh or torus"});
  table.Add({"torus.dims", "", "none", "a list of one to three sizes"});
  table.Add({"kernels", "", "fitted", "a map of constants of the kernel formulas (machines/fitted/kernels.yaml)"});
  Machine defaults;
  for (const MachineParameter& entry : MachineParameters()) {
    const double value = entry.at(defaults);
    table.Add({std::string(entry.name), std::string(entry.unit), entry.required ? "required" : value == 0 ? "none" : WithUnit(value, entry.unit),
               std::string(entry.what)});
  }
  return StrCat(table.ToText(style), "\nA value is a number with its unit, or {value: NUMBER, source: \"its origin\"}.\n");
}

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
    const double value = entry.at(machine);
    const bool is_default = !machine.given.contains(std::string(entry.name));
    table.Add({std::string(entry.name), IsAbsent(machine, entry) ? "-" : WithUnit(value, entry.unit), std::string(entry.what),
               source != machine.sources.end() ? source->second : is_default ? "default" : ""});
  }
  const std::string accuracy = machine.accuracy.empty() ? "" : StrCat("accuracy: ", machine.accuracy, "\n");
  return StrCat(machine.name, ": ", machine.description, "\n", accuracy, "\n", table.ToText(style));
}

std::string MachinesJson(const std::vector<Machine>& machines) {
  Json all = {{"version", kJsonVersion}, {"machines", Json::array()}};
  for (const Machine& machine : machines)
    all["machines"].push_back({{"name", machine.name}, {"description", machine.description}, {"parameters", ParametersJson(machine)}});
  return JsonText(all);
}

}  // namespace shoal::internal
