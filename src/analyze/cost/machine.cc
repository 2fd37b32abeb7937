#include "analyze/cost/machine.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/files.h"
#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/suggest.h"

namespace shoal::internal {
namespace {

// A machine file has about 3 kB. The library that reads YAML needs several times the size of a text.
constexpr uint64_t kMaxFileBytes = 1 << 18;

constexpr MachineParameter kParameters[] = {
    {"device.peak.f64", "flop/s", [](Machine& m) -> double& { return m.device.peak.f64; }, false, "matrix or vector"},
    {"device.peak.f32", "flop/s", [](Machine& m) -> double& { return m.device.peak.f32; }, true, "vector units"},
    {"device.peak.tf32", "flop/s", [](Machine& m) -> double& { return m.device.peak.tf32; }, false, "dense"},
    {"device.peak.bf16", "flop/s", [](Machine& m) -> double& { return m.device.peak.bf16; }, true, "dense; f16 too"},
    {"device.peak.f8", "flop/s", [](Machine& m) -> double& { return m.device.peak.f8; }, false, "dense"},
    {"device.peak.f4", "flop/s", [](Machine& m) -> double& { return m.device.peak.f4; }, false, "dense"},
    {"device.peak.s8", "flop/s", [](Machine& m) -> double& { return m.device.peak.s8; }, false, "dense"},
    {"device.matrix_efficiency", "", [](Machine& m) -> double& { return m.device.matrix_efficiency; }, false,
     "fraction of the peak that large GEMMs reach", ParameterKind::kFraction},
    {"device.cores", "", [](Machine& m) -> double& { return m.device.cores; }, true, "SMs, CUs, TensorCores", ParameterKind::kCount},
    {"device.lanes", "", [](Machine& m) -> double& { return m.device.lanes; }, false, "vector lanes of a core", ParameterKind::kCount},
    {"device.clock", "Hz", [](Machine& m) -> double& { return m.device.clock; }, true, ""},
    {"device.memory", "B", [](Machine& m) -> double& { return m.device.memory; }, true, ""},
    {"device.bandwidth", "B/s", [](Machine& m) -> double& { return m.device.bandwidth; }, true, "memory bandwidth"},
    {"device.memory_efficiency", "", [](Machine& m) -> double& { return m.device.memory_efficiency; }, false,
     "fraction of the bandwidth that is reached", ParameterKind::kFraction},
    {"device.cache", "B", [](Machine& m) -> double& { return m.device.cache; }, false, "L2; TPU: vector memory"},
    {"device.cache_bandwidth", "B/s", [](Machine& m) -> double& { return m.device.cache_bandwidth; }, false, ""},
    {"device.sustained", "", [](Machine& m) -> double& { return m.device.sustained; }, false,
     "fraction of the matrix units' speed that is sustained if a step takes a second", ParameterKind::kFraction},
    {"device.host_bandwidth", "B/s", [](Machine& m) -> double& { return m.device.host_bandwidth; }, false,
     "to host memory"},
    {"device.launch_overhead", "s", [](Machine& m) -> double& { return m.device.launch_overhead; }, false,
     "host time per kernel"},
    {"device.step_overhead", "s", [](Machine& m) -> double& { return m.device.step_overhead; }, false,
     "host time per step"},
    {"node.devices", "", [](Machine& m) -> double& { return m.node.devices; }, true, "", ParameterKind::kCount},
    {"node.bandwidth", "B/s", [](Machine& m) -> double& { return m.node.bandwidth; }, false,
     "from a device to the others in its node, one way"},
    {"node.link_efficiency", "", [](Machine& m) -> double& { return m.node.link_efficiency; }, false,
     "fraction of node.bandwidth that a ring of large messages reaches", ParameterKind::kFraction},
    {"node.latency", "s", [](Machine& m) -> double& { return m.node.latency; }, false, "latency of a hop"},
    {"node.in_switch_reduction", "", [](Machine& m) -> double& { return m.node.in_switch_reduction; }, false,
     "1: the switch performs reductions", ParameterKind::kFlag},
    {"cluster.nodes", "", [](Machine& m) -> double& { return m.cluster.nodes; }, false, "", ParameterKind::kCount},
    {"cluster.nic", "B/s", [](Machine& m) -> double& { return m.cluster.nic; }, false,
     "from a device to other nodes, one way"},
    {"cluster.nic_efficiency", "", [](Machine& m) -> double& { return m.cluster.nic_efficiency; }, false,
     "fraction of cluster.nic that is reached", ParameterKind::kFraction},
    {"cluster.latency", "s", [](Machine& m) -> double& { return m.cluster.latency; }, false, "latency of a hop"},
    {"torus.link", "B/s", [](Machine& m) -> double& { return m.torus.link; }, false, "one link, one way"},
    {"torus.link_efficiency", "", [](Machine& m) -> double& { return m.torus.link_efficiency; }, false,
     "fraction of torus.link that is reached", ParameterKind::kFraction},
    {"torus.hop", "s", [](Machine& m) -> double& { return m.torus.hop; }, false, "latency of a hop"},
    {"torus.min_ring_size", "", [](Machine& m) -> double& { return m.torus.min_ring_size; }, false,
     "an axis whose size is a multiple of this is a ring", ParameterKind::kCount},
};

std::optional<double> SiPrefixFactor(std::string_view prefix) {
  if (prefix.empty()) return 1;
  if (prefix.size() != 1) return std::nullopt;
  constexpr std::pair<char, double> kPrefixes[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'k', 1e3}, {'K', 1e3},
                                                   {'M', 1e6},  {'G', 1e9},  {'T', 1e12}, {'P', 1e15}};
  for (auto [letter, factor] : kPrefixes)
    if (prefix[0] == letter) return factor;
  return std::nullopt;
}

// Parses "8" or "4x4x8". Returns an empty list if the text is malformed.
std::vector<int64_t> ParseSizes(std::string_view text) {
  std::vector<int64_t> sizes;
  if (text.ends_with('x')) return {};
  while (!text.empty()) {
    const size_t x = std::min(text.find('x'), text.size());
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + x, size);
    if (error != std::errc() || end != text.data() + x || size < 1 || size > 1000000) return {};
    sizes.push_back(size);
    text.remove_prefix(std::min(text.size(), x + 1));
  }
  return sizes;
}

Result<Machine> WithSize(Machine machine, const std::vector<int64_t>& sizes, const std::string& name) {
  machine.name = name;
  machine.fixed_size = true;
  if (machine.node.links == NodeLinks::kTorus) {
    if (sizes.size() > 3) return Fail(StrCat("'", name, "': a torus has at most three sizes, as in tpu-v5p-4x4x8"));
    machine.torus.dims = sizes;
    double chips = 1;
    for (int64_t size : sizes) chips *= static_cast<double>(size);
    machine.cluster.nodes = std::max(1.0, std::ceil(chips / machine.node.devices));
    return machine;
  }
  if (sizes.size() > 2) return Fail(StrCat("'", name, "': the sizes are devices per node and nodes, as in h100x8x64"));
  machine.node.devices = static_cast<double>(sizes[0]);
  machine.cluster.nodes = sizes.size() > 1 ? static_cast<double>(sizes[1]) : 1;
  machine.fixed_size = sizes.size() > 1;
  return machine;
}

}  // namespace

double Machine::devices() const {
  double chips = 1;
  for (int64_t size : torus.dims) chips *= static_cast<double>(size);
  return torus.dims.empty() ? node.devices * cluster.nodes : chips;
}

int64_t Machine::devices_per_node() const { return std::max<int64_t>(1, static_cast<int64_t>(node.devices)); }

std::span<const MachineParameter> MachineParameters() { return kParameters; }

const MachineParameter* FindMachineParameter(std::string_view name) {
  const MachineParameter* found = nullptr;
  for (const MachineParameter& parameter : kParameters) {
    if (parameter.name == name) return &parameter;
    if (parameter.name.substr(parameter.name.rfind('.') + 1) != name) continue;
    if (found != nullptr) return nullptr;
    found = &parameter;
  }
  return found;
}

NumberRange RangeOf(const MachineParameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::kCount: return {.min = 1, .max = 1e9, .is_integer = true};
    case ParameterKind::kFlag: return {.min = 0, .max = 1, .is_integer = true};
    case ParameterKind::kFraction: return {.min = 0.01, .max = 1};
    case ParameterKind::kQuantity: break;
  }
  if (parameter.unit == "s") return {.min = 0, .max = 3600};
  return {.min = 1, .max = 1e24, .allows_zero = !parameter.required};
}

std::optional<double> ParseQuantity(std::string_view text, std::string_view unit) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::optional<double> number = TakeNumber(text);
  if (!number) return std::nullopt;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.ends_with(unit)) text.remove_suffix(unit.size());
  const std::optional<double> factor = SiPrefixFactor(text);
  if (!factor || !std::isfinite(*number * *factor)) return std::nullopt;
  return *number * *factor;
}

Result<double> ParseParameter(const MachineParameter& parameter, std::string_view text) {
  const std::optional<double> number = ParseQuantity(text, parameter.unit);
  if (!number)
    return Fail(StrCat("must be a number", parameter.unit.empty() ? "" : StrCat(" in ", parameter.unit), ", got '",
                       EscapeName(text), "'"));
  SHOAL_TRY(CheckRange(*number, RangeOf(parameter)));
  return *number;
}

Status SetMachineParameter(Machine& machine, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  const MachineParameter* parameter = FindMachineParameter(name);
  if (parameter == nullptr) {
    const std::string names = StrJoin(kParameters, ", ", [](std::string* out, const MachineParameter& p) { *out += p.name; });
    std::vector<std::string> candidates;
    for (const MachineParameter& p : kParameters)
      candidates.emplace_back(p.name), candidates.emplace_back(p.name.substr(p.name.rfind('.') + 1));
    return Fail(StrCat("unknown machine parameter '", EscapeName(name), "'; known: ", names, DidYouMean(name, candidates)));
  }
  const std::string shown = EscapeName(assignment);
  if (equals == std::string_view::npos) return Fail(StrCat("'", shown, "': expected a value, as in nic=100GB/s"));
  const Result<double> value = ParseParameter(*parameter, assignment.substr(equals + 1));
  if (!value.ok()) return Fail(StrCat("'", shown, "': ", parameter->name, " ", value.diag().message));
  const bool is_rate = parameter->unit == "B/s" || parameter->unit == "Hz" || parameter->unit == "flop/s";
  // Without a unit, a number that is small for a rate is probably a number of GB/s or GHz.
  constexpr double kMinRate = 1e6;
  const bool has_unit = assignment.find_first_not_of("0123456789.eE+- ", equals + 1) != std::string_view::npos;
  if (is_rate && !has_unit && *value > 0 && *value < kMinRate)
    return Fail(StrCat("'", shown, "': ", parameter->name, " is in ", parameter->unit, "; add the unit, as in ", name, "=",
                       assignment.substr(equals + 1), "G", parameter->unit));
  if (is_rate && machine.nominal == nullptr) machine.nominal = std::make_shared<const Machine>(machine);
  parameter->at(machine) = *value;
  if (parameter->name == "cluster.nodes") machine.fixed_size = true;
  // The measured times do not apply to changed links, so use the model instead.
  if (parameter->name.substr(0, 5) == "node." && parameter->name != "node.devices") machine.curves.clear();
  return {};
}

namespace {

// The known machines, alone and with the size at the end of `name`.
std::vector<std::string> SimilarMachines(std::string_view name) {
  std::vector<std::string> all;
  for (const Preset& preset : Presets()) {
    all.emplace_back(preset.name);
    for (size_t at = 0; at < name.size(); ++at)
      if ((name[at] == 'x' || name[at] == '-') && !ParseSizes(name.substr(at + 1)).empty())
        all.push_back(StrCat(preset.name, name.substr(at)));
  }
  return all;
}

}  // namespace

Result<Machine> LoadMachine(const std::string& name, int depth) {
  for (const Preset& preset : Presets()) {
    const std::string_view family = preset.name;
    if (name == family) {
      SHOAL_ASSIGN(machine, ReadMachine(std::string(preset.yaml), StrCat("machines/", family, ".yaml")));
      return machine;
    }
    if (name.size() <= family.size() + 1 || name.substr(0, family.size()) != family) continue;
    const char separator = name[family.size()];
    if (separator != 'x' && separator != '-') continue;
    const std::vector<int64_t> sizes = ParseSizes(std::string_view(name).substr(family.size() + 1));
    if (sizes.empty()) continue;
    SHOAL_ASSIGN(machine, ReadMachine(std::string(preset.yaml), StrCat("machines/", family, ".yaml")));
    return WithSize(std::move(machine), sizes, name);
  }
  if (struct stat info {}; lstat(name.c_str(), &info) == 0) {
    SHOAL_ASSIGN(file, InputFile::Open(name));
    SHOAL_ASSIGN(text, file.ReadAll(kMaxFileBytes));
    return ReadMachine(text, EscapeName(name), depth);
  }
  std::string names;
  for (const Preset& preset : Presets()) StrAppend(&names, names.empty() ? "" : ", ", preset.name);
  return Fail(StrCat("unknown machine or file '", EscapeName(name), "'; known machines: ", names,
                     "; a size may follow: h100x8 (a node), h100x8x64 (64 nodes), tpu-v5p-4x4x8", DidYouMean(name, SimilarMachines(name))));
}

void ScaleToDevices(Machine& machine, int64_t devices) {
  const auto needed = static_cast<double>(devices);
  if (machine.node.links == NodeLinks::kTorus) {
    if (machine.devices() >= needed && !machine.torus.dims.empty()) return;
    // Choose powers of two as dimensions, as close to a cube or square as possible.
    const size_t rank = std::max<size_t>(1, machine.torus.dims.size());
    machine.torus.dims.assign(rank, 1);
    for (int64_t rest = devices; rest > 1; rest = (rest + 1) / 2) {
      auto smallest = std::min_element(machine.torus.dims.begin(), machine.torus.dims.end());
      *smallest *= 2;
    }
    machine.cluster.nodes = std::max(1.0, std::ceil(machine.devices() / machine.node.devices));
    return;
  }
  if (machine.devices() < needed) machine.cluster.nodes = std::ceil(needed / machine.node.devices);
}

}  // namespace shoal::internal
