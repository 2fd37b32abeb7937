// Which nodes, and which axes of a torus, a group of devices reaches over.
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
  std::vector<int64_t> at(dims.size());
  for (size_t i = dims.size(); i-- > 0;) at[i] = device % dims[i], device /= dims[i];
  return at;
}

void PlaceOnTorus(const DeviceGroup& group, const std::vector<int64_t>& dims, GroupTopology& place) {
  std::vector<std::set<int64_t>> seen(dims.size());
  for (int64_t device : group) {
    const std::vector<int64_t> at = CoordinatesOf(device, dims);
    for (size_t i = 0; i < dims.size(); ++i) seen[i].insert(at[i]);
  }
  for (const auto& along : seen) place.torus.push_back(static_cast<int64_t>(along.size()));
}

int64_t HopsBetween(int64_t a, int64_t b, const std::vector<int64_t>& dims) {
  const std::vector<int64_t> from = CoordinatesOf(a, dims), to = CoordinatesOf(b, dims);
  int64_t hops = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t straight = std::abs(from[i] - to[i]);
    hops += std::min(straight, dims[i] - straight);
  }
  return hops;
}

void CountNodes(const DeviceGroup& group, int64_t per_node, GroupTopology& place) {
  std::map<int64_t, int64_t> members;
  for (int64_t device : group) ++members[device / per_node];
  place.nodes = std::max<int64_t>(1, static_cast<int64_t>(members.size()));
  for (const auto& [node, count] : members) place.per_node = std::max(place.per_node, count);
}

}  // namespace

GroupTopology GroupTopologyOf(const Participants& participants, const Machine& machine, double scale_out) {
  GroupTopology place;
  const int64_t per_node = machine.devices_per_node();
  place.members = std::max<int64_t>(1, participants.group_size);
  if (!participants.pairs.empty()) {
    place.permutes = true;
    place.hops = 0;
    for (const auto& [source, target] : participants.pairs) {
      if (source / per_node != target / per_node) place.nodes = 2;
      if (!machine.torus.dims.empty()) place.hops = std::max(place.hops, HopsBetween(source, target, machine.torus.dims));
    }
    place.members = 2;
    return place;
  }
  if (!participants.groups.empty()) {
    // The largest group; where they are alike, as they are in SPMD, that is every one.
    const auto largest = std::max_element(participants.groups.begin(), participants.groups.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    CountNodes(*largest, per_node, place);
    if (!machine.torus.dims.empty()) PlaceOnTorus(*largest, machine.torus.dims, place);
  } else {  // too many devices to list: neighbours
    place.per_node = std::min(place.members, per_node);
    place.nodes = CeilDiv(place.members, per_node);
    if (!machine.torus.dims.empty()) place.torus = machine.torus.dims;
  }
  if (scale_out != 1 && place.nodes > 1) {
    place.nodes = std::max<int64_t>(1, std::llround(static_cast<double>(place.nodes) * scale_out));
    place.members = place.nodes * place.per_node;
  }
  return place;
}

double BytesForTiming(Opcode kind, double payload, int64_t members) {
  return IsAllGatherKind(kind) ? payload * static_cast<double>(members) : payload;
}

}  // namespace shoal::internal
