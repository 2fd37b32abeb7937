#include "analyze/facts/traffic.h"

#include <algorithm>

#include "analyze/facts/wire_bytes.h"
#include "core/ir/sizes.h"

namespace shoal::internal {

std::vector<DeviceTraffic> TrafficByDevice(const ModuleCollectives& collectives, int64_t devices) {
  // Compute equal collectives only once, since a module may have many equal collectives on many devices.
  std::map<std::tuple<Opcode, size_t, int64_t>, std::pair<const LogicalCollective*, double>> distinct;
  for (const LogicalCollective& collective : collectives.all) {
    auto& [representative, times] =
        distinct[{collective.kind, collective.participants->index, collective.payload_bytes}];
    representative = &collective;
    times += collective.times;
  }
  std::vector<DeviceTraffic> all(static_cast<size_t>(devices));
  for (const auto& [key, value] : distinct) {
    const auto& [collective, times] = value;
    for (int64_t device = 0; device < devices; ++device) {
      const Traffic once = collective->TrafficOn(device);
      if (once.calls == 0 || times == 0) continue;
      TrafficSum& sum = all[static_cast<size_t>(device)][collective->kind];
      sum.calls += times * static_cast<double>(once.calls);
      sum.payload_bytes += times * static_cast<double>(once.payload_bytes);
      sum.wire_bytes += times * static_cast<double>(once.wire_bytes);
    }
  }
  return all;
}

std::vector<uint32_t> GroupEquivalentCollectives(const ModuleCollectives& collectives) {
  std::map<std::tuple<Opcode, std::string, int64_t>, uint32_t> numbers;
  std::vector<uint32_t> groups;
  for (const LogicalCollective& collective : collectives.all)
    groups.push_back(numbers
                         .try_emplace({collective.kind, collective.axis(), collective.payload_bytes},
                                      static_cast<uint32_t>(numbers.size()))
                         .first->second);
  return groups;
}

const NodeSplits::Crossings& NodeSplits::CrossingsOf(const Participants& participants) {
  auto [found, inserted] = cache_.try_emplace(&participants);
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

NodeSplit NodeSplits::Of(const LogicalCollective& collective) {
  const Crossings& crossings = CrossingsOf(*collective.participants);
  NodeSplit split{crossings.nodes, 0, 0};
  if (split.inside()) return split;
  const auto payload = static_cast<double>(collective.payload_bytes);
  if (!collective.pairs().empty()) {
    split.between_direct = split.between_ring = crossings.pairs * payload;
    return split;
  }
  // If the collective has a root, at most one direction between the root and another member carries data.
  const int64_t n = collective.participants->group_size;
  const double from_root = PairBytes(collective.kind, n, payload, 0, 1);
  const double to_root = PairBytes(collective.kind, n, payload, 1, 0);
  const double between_others = PairBytes(collective.kind, n, payload, 1, 2);
  split.between_direct =
      between_others > 0 ? between_others * crossings.pairs : (from_root + to_root) * crossings.from_first;
  split.between_ring = crossings.links * static_cast<double>(collective.MaxRingBytes());
  return split;
}

TrafficMatrix MatrixOf(const ModuleCollectives& collectives, int64_t devices, int64_t devices_per_row) {
  std::map<std::pair<Opcode, size_t>, double, std::greater<>> payloads;  // sums; traffic is linear in payload
  for (const LogicalCollective& collective : collectives.all)
    payloads[{collective.kind, collective.participants->index}] +=
        collective.times * static_cast<double>(collective.payload_bytes);
  TrafficMatrix matrix;
  matrix.size = CeilDiv(devices, devices_per_row);
  matrix.bytes.assign(static_cast<size_t>(matrix.size * matrix.size), 0);
  auto add = [&](int64_t from, int64_t to, double bytes) {
    if (from != to && std::max(from, to) < devices) matrix.At(from / devices_per_row, to / devices_per_row) += bytes;
  };
  for (const auto& [key, payload] : payloads) {
    const auto& [kind, index] = key;
    const Participants* participants = collectives.participants.all()[index].get();
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
