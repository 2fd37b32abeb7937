#include "analyze/facts/traffic.h"

#include <algorithm>
#include <set>

#include "analyze/facts/wire_bytes.h"
#include "core/ir/sizes.h"

namespace shoal::internal {

std::vector<DeviceTraffic> TrafficByDevice(const ModuleCollectives& collectives, int64_t devices) {
  // Collectives that are alike are worked out once: modules have many of them, and many devices.
  std::map<std::tuple<Opcode, const Participants*, int64_t>, std::pair<const LogicalCollective*, double>> alike;
  for (const LogicalCollective& use : collectives.all) {
    auto& [one, times] = alike[{use.kind, use.participants, use.payload_bytes}];
    one = &use;
    times += use.times;
  }
  std::vector<DeviceTraffic> all(static_cast<size_t>(devices));
  for (const auto& [key, value] : alike) {
    const auto& [use, times] = value;
    for (int64_t device = 0; device < devices; ++device) {
      const Traffic once = use->TrafficOn(device);
      if (once.calls == 0 || times == 0) continue;
      TrafficSum& sum = all[static_cast<size_t>(device)][use->kind];
      sum.calls += times * static_cast<double>(once.calls);
      sum.payload_bytes += times * static_cast<double>(once.payload_bytes);
      sum.wire_bytes += times * static_cast<double>(once.wire_bytes);
    }
  }
  return all;
}

std::vector<uint32_t> GroupEquivalentCollectives(const ModuleCollectives& collectives) {
  std::map<std::tuple<Opcode, std::string, int64_t>, uint32_t> known;
  std::vector<uint32_t> alike;
  for (const LogicalCollective& use : collectives.all)
    alike.push_back(
        known.try_emplace({use.kind, use.axis(), use.payload_bytes}, static_cast<uint32_t>(known.size())).first->second);
  return alike;
}

const NodeSplits::Crossings& NodeSplits::CrossingsOf(const Participants& participants) {
  auto [found, inserted] = known_.try_emplace(&participants);
  Crossings& crossings = found->second;
  if (!inserted) return crossings;
  for (const DeviceGroup& group : participants.groups) {
    std::map<int64_t, int64_t> on_node;
    for (int64_t device : group) ++on_node[NodeOf(device)];
    const auto n = std::ssize(group);
    crossings.nodes = std::max(crossings.nodes, std::ssize(on_node));
    for (auto [node, count] : on_node) crossings.pairs += static_cast<double>(count * (n - count));
    if (n > 0) crossings.from_first += static_cast<double>(n - on_node[NodeOf(group[0])]);
    for (size_t i = 0; i < group.size(); ++i)
      if (NodeOf(group[i]) != NodeOf(group[(i + 1) % group.size()])) ++crossings.links;
  }
  for (auto [source, target] : participants.pairs) {
    if (NodeOf(source) == NodeOf(target)) continue;
    crossings.nodes = 2;
    ++crossings.pairs;
  }
  if (participants.groups.empty() && participants.pairs.empty())
    crossings.nodes = CeilDiv(participants.group_size, devices_per_node_);
  return crossings;
}

NodeSplit NodeSplits::Of(const LogicalCollective& use) {
  const Crossings& crossings = CrossingsOf(*use.participants);
  NodeSplit split{crossings.nodes, 0, 0};
  if (split.inside()) return split;
  const auto payload = static_cast<double>(use.payload_bytes);
  if (!use.pairs().empty()) {
    split.between_direct = split.between_ring = crossings.pairs * payload;
    return split;
  }
  // The two directions between the root and another member: at most one carries data.
  const int64_t n = use.participants->group_size;
  const double from_root = PairBytes(use.kind, n, payload, 0, 1);
  const double to_root = PairBytes(use.kind, n, payload, 1, 0);
  const double plain = PairBytes(use.kind, n, payload, 1, 2);
  split.between_direct = plain > 0 ? plain * crossings.pairs : (from_root + to_root) * crossings.from_first;
  split.between_ring = crossings.links * static_cast<double>(use.MostRingBytes());
  return split;
}

TrafficMatrix MatrixOf(const ModuleCollectives& collectives, int64_t devices, int64_t devices_per_row) {
  std::map<std::pair<Opcode, const Participants*>, double> payloads;  // what goes between two devices grows with them
  for (const LogicalCollective& use : collectives.all)
    payloads[{use.kind, use.participants}] += use.times * static_cast<double>(use.payload_bytes);
  TrafficMatrix matrix;
  matrix.size = CeilDiv(devices, devices_per_row);
  matrix.bytes.assign(static_cast<size_t>(matrix.size * matrix.size), 0);
  auto add = [&](int64_t from, int64_t to, double bytes) {
    if (from != to && std::max(from, to) < devices) matrix.At(from / devices_per_row, to / devices_per_row) += bytes;
  };
  for (const auto& [key, payload] : payloads) {
    const auto& [kind, participants] = key;
    for (auto [source, target] : participants->pairs) add(source, target, payload);
    for (const DeviceGroup& group : participants->groups) {
      const auto n = std::ssize(group);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          add(group[static_cast<size_t>(i)], group[static_cast<size_t>(j)], PairBytes(kind, n, payload, i, j));
    }
  }
  return matrix;
}

}  // namespace shoal::internal
