// Computes the nodes and the torus axes that a group of devices spans.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/ops/collective_kinds.h"
#include "core/ir/sizes.h"
#include "analyze/cost/collective_time.h"

namespace shoal::internal {
namespace {

std::vector<int64_t> CoordinatesOf(int64_t device, const std::vector<int64_t>& dims) {
  std::vector<int64_t> coordinates(dims.size());
  for (size_t i = dims.size(); i-- > 0;) coordinates[i] = device % dims[i], device /= dims[i];
  return coordinates;
}

void MeasureTorusExtent(const DeviceGroup& group, const std::vector<int64_t>& dims, GroupTopology& topology) {
  std::vector<std::set<int64_t>> axis_coordinates(dims.size());
  for (int64_t device : group) {
    const std::vector<int64_t> coordinates = CoordinatesOf(device, dims);
    for (size_t i = 0; i < dims.size(); ++i) axis_coordinates[i].insert(coordinates[i]);
  }
  for (const auto& axis : axis_coordinates) topology.torus.push_back(static_cast<int64_t>(axis.size()));
}

int64_t HopsBetween(int64_t a, int64_t b, const std::vector<int64_t>& dims) {
  const std::vector<int64_t> from = CoordinatesOf(a, dims), to = CoordinatesOf(b, dims);
  int64_t hops = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t direct = std::abs(from[i] - to[i]);
    hops += std::min(direct, dims[i] - direct);
  }
  return hops;
}

void CountNodes(const DeviceGroup& group, int64_t per_node, GroupTopology& topology) {
  std::map<int64_t, int64_t> members;
  for (int64_t device : group) ++members[device / per_node];
  topology.nodes = std::max<int64_t>(1, static_cast<int64_t>(members.size()));
  for (const auto& [node, count] : members) topology.per_node = std::max(topology.per_node, count);
}

}  // namespace

GroupTopology GroupTopologyOf(const Participants& participants, const Machine& machine, double scale_out) {
  GroupTopology topology;
  const int64_t per_node = machine.devices_per_node();
  topology.members = std::max<int64_t>(1, participants.group_size);
  if (!participants.pairs.empty()) {
    topology.permutes = true;
    topology.hops = 0;
    for (const auto& [source, target] : participants.pairs) {
      if (source / per_node != target / per_node) topology.nodes = 2;
      if (!machine.torus.dims.empty()) topology.hops = std::max(topology.hops, HopsBetween(source, target, machine.torus.dims));
    }
    topology.members = 2;
    return topology;
  }
  if (!participants.groups.empty()) {
    // Use the largest group. In SPMD modules, all groups have the same size.
    const auto largest = std::max_element(participants.groups.begin(), participants.groups.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    CountNodes(*largest, per_node, topology);
    if (!machine.torus.dims.empty()) MeasureTorusExtent(*largest, machine.torus.dims, topology);
  } else {  // there are too many devices to list, so assume that the members have consecutive ids
    topology.per_node = std::min(topology.members, per_node);
    topology.nodes = CeilDiv(topology.members, per_node);
    if (!machine.torus.dims.empty()) topology.torus = machine.torus.dims;
  }
  if (scale_out != 1 && topology.nodes > 1) {
    topology.nodes = std::max<int64_t>(1, std::llround(static_cast<double>(topology.nodes) * scale_out));
    topology.members = topology.nodes * topology.per_node;
  }
  return topology;
}

double BytesForTiming(Opcode kind, double payload, int64_t members) {
  return IsAllGatherKind(kind) ? payload * static_cast<double>(members) : payload;
}

}  // namespace shoal::internal
