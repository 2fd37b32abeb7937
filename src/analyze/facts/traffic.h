// What the collectives of a module come to: who sends how much to whom, and what crosses from node to node.
#pragma once

#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

struct TrafficSum {
  double calls = 0, payload_bytes = 0, wire_bytes = 0;
  bool operator==(const TrafficSum&) const = default;
};
// Of each device when the module runs once, by kind of collective; as the runtime counts it.
using DeviceTraffic = std::map<Opcode, TrafficSum>;
std::vector<DeviceTraffic> TrafficByDevice(const ModuleCollectives& collectives, int64_t devices);

// For each of the uses a number, the same for those of one kind, axis, pattern and payload, counted from 0 in the order
// of their first one.
std::vector<uint32_t> GroupEquivalentCollectives(const ModuleCollectives& collectives);

// How a collective lies on nodes of so many neighbouring devices.
struct NodeSplit {
  int64_t nodes = 1;          // that a group, or a pair, spans at most
  double between_direct = 0;  // bytes that go from a node to another, over all devices, each time it runs
  double between_ring = 0;    // when each group is a ring in the order of its members
  bool inside() const { return nodes == 1; }
};
class NodeSplits {
 public:
  explicit NodeSplits(int64_t devices_per_node) : devices_per_node_(devices_per_node) {}
  NodeSplit Of(const LogicalCollective& use);

 private:
  // Of all groups together: ordered pairs of devices, those with the first member as source, neighbours on the ring.
  struct Crossings {
    int64_t nodes = 1;
    double pairs = 0, from_first = 0, links = 0;
  };
  const Crossings& CrossingsOf(const Participants& participants);
  int64_t NodeOf(int64_t device) const { return device / devices_per_node_; }

  int64_t devices_per_node_;
  std::unordered_map<const Participants*, Crossings> known_;
};

// Bytes from each device to each other one the direct way when the module runs once; row: the source. With more
// than one device per row, of neighbours together.
struct TrafficMatrix {
  int64_t size = 0;
  std::vector<double> bytes;
  double& At(int64_t from, int64_t to) { return bytes[static_cast<size_t>(from * size + to)]; }
};
TrafficMatrix MatrixOf(const ModuleCollectives& collectives, int64_t devices, int64_t devices_per_row = 1);

}  // namespace shoal::internal
