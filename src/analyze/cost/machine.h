// A machine to predict the time on: what one device can do, how devices are joined in a node, and nodes in a cluster.
// Machines are data, in machines/*.yaml; every figure is a row of MachineParameters(), which is the schema of those files
// and the list of what --set and --sweep may change.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/cost/kernel_constants.h"
#include "core/base/result.h"

namespace shoal::internal {

enum class DeviceKind : uint8_t { kGpu, kTpu };
// How the devices of a node are joined.
enum class NodeLinks : uint8_t { kSwitch, kMesh, kTorus };

// Dense flops a second by type of the operands; 0: the device has no unit for it.
struct Peak {
  double f64 = 0, f32 = 0, tf32 = 0, bf16 = 0, f8 = 0, f4 = 0, s8 = 0;
};

struct DeviceModel {
  DeviceKind kind = DeviceKind::kGpu;
  Peak peak;
  double matrix_efficiency = 0.85;  // of the peak that large products reach
  double cores = 1, lanes = 128, clock = 1e9;
  double memory = 0, bandwidth = 0, memory_efficiency = 0.9;  // bytes, bytes a second, the part of them that is reached
  double cache = 0, cache_bandwidth = 0;                 // L2; of a TPU the vector memory, S(1)
  double host_bandwidth = 50e9;
  double sustained = 1;               // of the matrix units' speed, when power limits them for long
  double launch_overhead = 0, step_overhead = 0;  // seconds the host takes for a kernel, and for a step
};

struct NodeModel {
  double devices = 1;
  NodeLinks links = NodeLinks::kSwitch;
  double bandwidth = 0;      // of a device to the others of its node, one way
  double link_efficiency = 0.8;   // of it that a ring of large messages reaches
  double latency = 0;        // of a hop
  double in_switch_reduction = 0; // 1: the switch adds up (NVLS)
};

struct ClusterModel {
  double nodes = 1;
  double nic = 0;          // bytes a second of each device to other nodes, one way
  double nic_efficiency = 0.95;
  double latency = 14e-6;  // of a hop between nodes
};

// Of TPUs: all chips of a slice are joined in a torus.
struct TorusModel {
  std::vector<int64_t> dims;     // empty: none
  double link = 0;               // bytes a second of one link, one way
  double link_efficiency = 0.85;
  double hop = 1e-6;
  double min_ring_size = 4;         // an axis is a ring if its size is a multiple of this
};

struct Machine {
  std::string name;         // "h100x8x64"
  std::string family;       // "h100"
  std::string description;
  std::string curves;       // whose measured collectives count
  DeviceModel device;
  NodeModel node;
  ClusterModel cluster;
  TorusModel torus;
  KernelConstants kernels;
  std::map<std::string, std::string> sources;  // of figures by name
  bool fixed_size = false;                     // the name says how many devices there are

  double devices() const;
  int64_t devices_per_node() const;
};

// A figure of a machine: its name in the files, and its place.
struct MachineParameter {
  std::string_view name;  // "device.bandwidth"
  std::string_view unit;  // "B/s", "B", "flop/s", "Hz", "s" or empty
  double& (*at)(Machine&);
  bool required = false;
  std::string_view what;
};
std::span<const MachineParameter> MachineParameters();
// By its whole name or its last part where that is unique; "nic" is cluster.nic. Null if there is none.
const MachineParameter* FindMachineParameter(std::string_view name);
// "3.35 TB/s" as a number; a unit may be left out. Nothing if it is no number or has another unit.
std::optional<double> QuantityOf(std::string_view text, std::string_view unit);
// "nic=100GB/s".
Status SetMachineParameter(Machine& machine, std::string_view assignment);

// The presets that come with the program, and the text of each file.
struct Preset {
  std::string_view name, yaml;
};
std::span<const Preset> Presets();

// Reads a machine from YAML; `path` stands in the message, which names key and line.
Result<Machine> ReadMachine(const std::string& yaml, const std::string& path);
// h200, h100x8, h100x8x64, tpu-v5p-4x4x8, or the name of a file.
Result<Machine> LoadMachine(const std::string& name);
// The machine with as many nodes as `devices` need.
void ScaleToDevices(Machine& machine, int64_t devices);

}  // namespace shoal::internal
