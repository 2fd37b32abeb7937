// Describes a machine for predictions: the rates of a device, the links in a node, and the network between nodes.
// The files machines/*.yaml define the machines. MachineParameters() is the schema of these files: each row is a
// parameter, which the flags --set and --sweep can also change.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/cost/kernel_constants.h"
#include "core/base/numbers.h"
#include "core/base/result.h"

namespace shoal::internal {

enum class DeviceKind : uint8_t { kGpu, kTpu };
enum class NodeLinks : uint8_t { kSwitch, kMesh, kTorus };

// Peak dense flop/s by operand type, or 0 if the device has no unit for the type.
struct Peak {
  double f64 = 0, f32 = 0, tf32 = 0, bf16 = 0, f8 = 0, f4 = 0, s8 = 0;
};

struct DeviceModel {
  DeviceKind kind = DeviceKind::kGpu;
  Peak peak;
  double matrix_efficiency = 0.85;  // fraction of the peak that large GEMMs reach
  double cores = 1, lanes = 128, clock = 1e9;
  double memory = 0, bandwidth = 0, memory_efficiency = 0.9;  // bytes, peak bytes per second, fraction achieved
  double cache = 0, cache_bandwidth = 0;                      // of the L2 cache; on a TPU, of vector memory, S(1)
  double host_bandwidth = 50e9;
  double sustained = 1;                           // fraction of the matrix units' speed that the power limit sustains
  double launch_overhead = 0, step_overhead = 0;  // host seconds per kernel, and per step
};

struct NodeModel {
  double devices = 1;
  NodeLinks links = NodeLinks::kSwitch;
  double bandwidth = 0;            // bytes per second from a device to the others in its node, one way
  double link_efficiency = 0.8;    // fraction of this bandwidth that a ring of large messages reaches
  double latency = 3.4e-6;         // seconds per hop; the default is NCCL's value for a hop over NVLink
  double in_switch_reduction = 0;  // 1 if the switch performs reductions (NVLS)
};

struct ClusterModel {
  double nodes = 1;
  double nic = 0;          // bytes per second from each device to other nodes, one way
  double nic_efficiency = 0.95;
  double latency = 14e-6;  // seconds per hop between nodes
};

// The torus that links all chips of a TPU slice.
struct TorusModel {
  std::vector<int64_t> dims;  // empty if there is no torus
  double link = 0;            // bytes per second of one link, one way
  double link_efficiency = 0.85;
  double hop = 1e-6;
  double min_ring_size = 4;  // an axis is a ring if its size is a multiple of this
};

struct Machine {
  std::string name;         // "h100x8x64"
  std::string family;       // "h100"
  std::string description;
  std::string accuracy;     // the expected error of predictions, in words
  std::string curves;       // the device whose measured collective times apply
  DeviceModel device;
  NodeModel node;
  ClusterModel cluster;
  TorusModel torus;
  KernelConstants kernels;
  std::map<std::string, std::string> sources;  // reference for each parameter's value, by parameter name
  std::set<std::string> given;                 // parameters that the file sets; the others have their defaults
  // The machine before its rates were changed, which the estimated schedule assumes: XLA does not measure the machine
  // either, and a schedule that follows each change would make some steps slower on a faster machine. Null: unchanged.
  std::shared_ptr<const Machine> nominal = {};
  bool fixed_size = false;                     // the machine's name or an option fixes the number of nodes

  double devices() const;
  int64_t devices_per_node() const;
};

// What the value of a parameter is, which determines its range.
enum class ParameterKind : uint8_t { kQuantity, kCount, kFraction, kFlag };

// A parameter of a machine: its name in machine files, and a function that accesses its value.
struct MachineParameter {
  std::string_view name;  // "device.bandwidth"
  std::string_view unit;  // "B/s", "B", "flop/s", "Hz", "s" or empty
  double& (*at)(Machine&);
  bool required = false;
  std::string_view what;
  ParameterKind kind = ParameterKind::kQuantity;
};
std::span<const MachineParameter> MachineParameters();
// Finds a parameter by full name, or by a unique last component ("nic" for cluster.nic). Returns null if unknown.
const MachineParameter* FindMachineParameter(std::string_view name);
// Parses text such as "3.35 TB/s". The unit is optional. Returns nullopt for malformed text or another unit.
std::optional<double> ParseQuantity(std::string_view text, std::string_view unit);
// The values that a parameter may have, in its unit. Zero means that the machine has no such part.
NumberRange RangeOf(const MachineParameter& parameter);
// Parses and checks the value of a parameter. The error message is a predicate.
Result<double> ParseParameter(const MachineParameter& parameter, std::string_view text);
// Applies an assignment such as "nic=100GB/s".
Status SetMachineParameter(Machine& machine, std::string_view assignment);

// A machine file that is embedded in the program.
struct Preset {
  std::string_view name, yaml;
};
std::span<const Preset> Presets();

// Reads a machine from YAML. Errors name `path`, the line and the key. `depth` is the number of machines that are based
// on this one, which is limited.
Result<Machine> ReadMachine(const std::string& yaml, const std::string& path, int depth = 0);
// Loads a machine by name (h200, h100x8, h100x8x64, tpu-v5p-4x4x8) or from a file.
Result<Machine> LoadMachine(const std::string& name, int depth = 0);
// Adds nodes until the machine has at least `devices` devices.
void ScaleToDevices(Machine& machine, int64_t devices);

}  // namespace shoal::internal
