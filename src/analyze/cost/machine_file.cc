// Machines from YAML. What is not in the schema, or not what it says, is an error with its key and line.
#include <algorithm>

#include "analyze/cost/embedded.h"
#include "analyze/cost/machine.h"
#include "core/base/strings.h"
#include "yaml-cpp/yaml.h"

namespace shoal::internal {
namespace {

// The name that a key has had since version 2; empty if it was not renamed.
std::string_view RenamedKey(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"device.matrix_share", "device.matrix_efficiency"}, {"device.memory_share", "device.memory_efficiency"},
      {"device.launch", "device.launch_overhead"},         {"device.host_start", "device.step_overhead"},
      {"node.link_share", "node.link_efficiency"},         {"node.sums_in_switch", "node.in_switch_reduction"},
      {"cluster.nic_share", "cluster.nic_efficiency"},     {"torus.link_share", "torus.link_efficiency"},
      {"torus.wraps_from", "torus.min_ring_size"},
  };
  for (const auto& [before, now] : kRenamed)
    if (before == key) return now;
  return {};
}

class MachineReader {
 public:
  MachineReader(Machine& machine, const std::string& path) : machine_(machine), path_(path) {}

  Status Read(const YAML::Node& root) {
    if (!root.IsMap()) return At(root, "a machine is a map of keys: name, device, node, …");
    SHOAL_TRY(Walk(root, ""));
    for (const MachineParameter& figure : MachineParameters())
      if (figure.required && !given_.contains(std::string(figure.name)))
        return At(root, StrCat("key '", figure.name, "' is missing"));
    if (machine_.family.empty()) return At(root, "key 'name' is missing");
    return Sensible(root);
  }

 private:
  Diag At(const YAML::Node& node, std::string message) const {
    return Fail(StrCat(path_, ":", node.Mark().line + 1, ": ", message));
  }

  Status Walk(const YAML::Node& map, const std::string& prefix) {
    for (const auto& pair : map) {
      if (!pair.first.IsScalar()) return At(pair.first, "a key must be a word");
      const std::string key = prefix + pair.first.Scalar();
      if (given_.contains(key)) return At(pair.first, StrCat("key '", key, "' stands twice"));
      SHOAL_TRY(Take(key, pair.first, pair.second));
      given_[key] = true;
    }
    return {};
  }

  Status Take(const std::string& key, const YAML::Node& name, const YAML::Node& value) {
    for (const MachineParameter& figure : MachineParameters())
      if (figure.name == key) return TakeFigure(figure, value);
    if (key == "name") return TakeText(key, value, machine_.family);
    if (key == "description") return TakeText(key, value, machine_.description);
    if (key == "collectives") return TakeText(key, value, machine_.curves);
    if (key == "device.kind") return TakeWord(key, value, {"gpu", "tpu"}, machine_.device.kind);
    if (key == "node.links") return TakeWord(key, value, {"switch", "mesh", "torus"}, machine_.node.links);
    if (key == "torus.dims") return TakeDims(key, value);
    if (key == "kernels") return TakeConstants(value);
    const bool is_section = std::any_of(
        MachineParameters().begin(), MachineParameters().end(), [&](const MachineParameter& figure) {
          return figure.name.size() > key.size() && figure.name.substr(0, key.size() + 1) == key + ".";
        });
    if (!is_section) {
      const std::string_view renamed = RenamedKey(key);
      return At(name, StrCat("unknown key '", key, "'", renamed.empty() ? "" : StrCat("; it is now '", renamed, "'")));
    }
    if (!value.IsMap()) return At(value, StrCat("key '", key, "' must be a map"));
    return Walk(value, key + ".");
  }

  Status TakeText(const std::string& key, const YAML::Node& value, std::string& text) {
    if (!value.IsScalar()) return At(value, StrCat("key '", key, "' must be a text"));
    text = value.Scalar();
    return {};
  }

  template <class Enum>
  Status TakeWord(const std::string& key, const YAML::Node& value, std::initializer_list<std::string_view> words,
                  Enum& taken) {
    const std::string word = value.IsScalar() ? value.Scalar() : "";
    const auto* found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      return At(value, StrCat("key '", key, "' must be one of ", StrJoin(words, ", "), ", got '", word, "'"));
    taken = static_cast<Enum>(found - words.begin());
    return {};
  }

  // A number with its unit, or {value: …, source: …}.
  Status TakeFigure(const MachineParameter& figure, const YAML::Node& node) {
    YAML::Node value = node;
    if (node.IsMap()) {
      for (const auto& pair : node)
        if (pair.first.Scalar() != "value" && pair.first.Scalar() != "source")
          return At(pair.first, StrCat("unknown key '", figure.name, ".", pair.first.Scalar(), "'"));
      value.reset(node["value"]);
      if (node["source"] && node["source"].IsScalar())
        machine_.sources[std::string(figure.name)] = node["source"].Scalar();
    }
    const std::string text = value && value.IsScalar() ? value.Scalar() : "";
    const std::optional<double> number = QuantityOf(text, figure.unit);
    if (!number || *number < 0)
      return At(node, StrCat("key '", figure.name, "' must be a number",
                             figure.unit.empty() ? "" : StrCat(" in ", figure.unit), ", got '", text, "'"));
    figure.at(machine_) = *number;
    return {};
  }

  Status TakeDims(const std::string& key, const YAML::Node& value) {
    if (!value.IsSequence() || value.size() < 1 || value.size() > 3)
      return At(value, StrCat("key '", key, "' must be a list of one to three sizes"));
    for (const YAML::Node& size : value) {
      const std::optional<double> number = size.IsScalar() ? QuantityOf(size.Scalar(), "") : std::nullopt;
      if (!number || *number < 1 || *number > 1e6) return At(size, StrCat("key '", key, "': a size is 1 or more"));
      machine_.torus.dims.push_back(static_cast<int64_t>(*number));
    }
    return {};
  }

  Status TakeConstants(const YAML::Node& value) {
    if (!value.IsMap()) return At(value, "key 'kernels' must be a map of constants");
    for (const auto& pair : value) {
      const std::string name = pair.first.Scalar();
      const auto all = AllKernelConstants();
      const auto found = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.name == name; });
      if (found == all.end()) return At(pair.first, StrCat("unknown key 'kernels.", name, "'"));
      const std::optional<double> number =
          pair.second.IsScalar() ? QuantityOf(pair.second.Scalar(), "") : std::nullopt;
      if (!number || *number < 0) return At(pair.second, StrCat("key 'kernels.", name, "' must be a number"));
      machine_.kernels.*(found->at) = *number;
    }
    return {};
  }

  // What the formulas divide by.
  Status Sensible(const YAML::Node& root) const {
    const DeviceModel& device = machine_.device;
    const std::pair<std::string_view, double> positive[] = {
        {"device.peak.f32", device.peak.f32},   {"device.peak.bf16", device.peak.bf16},
        {"device.cores", device.cores},         {"device.lanes", device.lanes},
        {"device.clock", device.clock},         {"device.bandwidth", device.bandwidth},
        {"device.memory", device.memory},       {"node.devices", machine_.node.devices},
        {"cluster.nodes", machine_.cluster.nodes}};
    for (const auto& [name, value] : positive)
      if (!(value > 0)) return At(root, StrCat("key '", name, "' must be more than 0"));
    if (machine_.node.links == NodeLinks::kTorus && machine_.torus.dims.empty())
      return At(root, "key 'torus.dims' is missing: node.links is torus");
    return {};
  }

  Machine& machine_;
  const std::string& path_;
  std::map<std::string, bool> given_;
};

Result<Machine> ReadMachineOver(Machine machine, const std::string& yaml, const std::string& path) {
  try {
    SHOAL_TRY(MachineReader(machine, path).Read(YAML::Load(yaml)));
  } catch (const YAML::Exception& error) {
    return Fail(StrCat(path, ":", error.mark.line + 1, ": ", error.msg));
  }
  machine.name = machine.family;
  return machine;
}

// machines/fitted/kernels.yaml: constants: {name: value}.
KernelConstants FittedConstants() {
  KernelConstants fitted;
  const YAML::Node constants = YAML::Load(std::string(EmbeddedFile("fitted/kernels.yaml")))["constants"];
  for (const KernelConstant& constant : AllKernelConstants())
    if (const YAML::Node value = constants[std::string(constant.name)]) fitted.*(constant.at) = value.as<double>();
  return fitted;
}

}  // namespace

Result<Machine> ReadMachine(const std::string& yaml, const std::string& path) {
  Machine machine;
  machine.node.latency = 3.4e-6;  // of a hop over NVLink, as NCCL has it, where the file does not say
  machine.kernels = FittedConstants();
  return ReadMachineOver(std::move(machine), yaml, path);
}

}  // namespace shoal::internal
