// Computes the traffic of a module's collectives per device, between pairs of devices, and between nodes.
#pragma once

#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

struct TrafficSum {
  double calls = 0, payload_bytes = 0, wire_bytes = 0;
  bool operator==(const TrafficSum&) const = default;
};
// Traffic by kind of collective, with the same counts as in the runtime. TrafficByDevice covers one run of the module.
using DeviceTraffic = std::map<Opcode, TrafficSum>;
std::vector<DeviceTraffic> TrafficByDevice(const ModuleCollectives& collectives, int64_t devices);

// Assigns a group number to each collective. Collectives with equal kind, axis, pattern and payload share a group.
// Groups are numbered from 0, in the order of their first collectives.
std::vector<uint32_t> GroupEquivalentCollectives(const ModuleCollectives& collectives);

// The traffic of a collective between nodes. A node is `devices_per_node` devices with consecutive ids.
struct NodeSplit {
  int64_t nodes = 1;          // maximum number of nodes that a group or a pair spans
  double between_direct = 0;  // inter-node bytes of all devices per execution, if members exchange data directly
  double between_ring = 0;    // inter-node bytes of all devices per execution, if each group forms a ring
  bool inside() const { return nodes == 1; }
};
class NodeSplits {
 public:
  explicit NodeSplits(int64_t devices_per_node) : devices_per_node_(devices_per_node) {}
  NodeSplit Of(const LogicalCollective& collective);

 private:
  // Numbers of pairs across nodes in all groups: ordered pairs, pairs with the first member, and ring neighbours.
  struct Crossings {
    int64_t nodes = 1;
    double pairs = 0, from_first = 0, links = 0;
  };
  const Crossings& CrossingsOf(const Participants& participants);
  int64_t NodeOf(int64_t device) const { return device / devices_per_node_; }

  int64_t devices_per_node_;
  std::unordered_map<const Participants*, Crossings> cache_;
};

// Bytes from each device (row) to each other device (column) in one run of the module, if members exchange directly. If
// there are several devices per row, rows and columns are blocks of consecutive devices.
struct TrafficMatrix {
  int64_t size = 0;
  std::vector<double> bytes;
  double& At(int64_t from, int64_t to) { return bytes[static_cast<size_t>(from * size + to)]; }
};
TrafficMatrix MatrixOf(const ModuleCollectives& collectives, int64_t devices, int64_t devices_per_row = 1);

}  // namespace shoal::internal
