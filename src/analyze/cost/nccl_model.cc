#include "analyze/cost/nccl_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"

namespace shoal::internal {
namespace {

// Microseconds from NCCL's tuning tables: base latency, latency of a hop in a node, latency of a hop between nodes.
struct Protocol {
  std::string_view name;
  double efficiency;  // fraction of the bandwidth that carries data
  double ring_base, ring_hop, ring_net;
  double tree_base, tree_hop, tree_net;
};
constexpr Protocol kProtocols[] = {
    {"LL", .5, 6.6, .6, 2.7, 6.8, .6, 5},
    {"LL128", .92, 14, 1.9, 4, 14, 1.25, 8.5},
    {"Simple", 1, 8.4, 3.4, 14, 8.4, 4, 14},
};
constexpr double kNvlsBase = 25, kNvlsNet = 20.9;  // for reductions in the switch

class NcclModel {
 public:
  NcclModel(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine)
      : kind_(kind), bytes_(bytes), topology_(topology), machine_(machine), n_(static_cast<double>(topology.members)) {}

  CollectiveTiming Best() {
    if (IsPairedKind(kind_) || topology_.permutes) return PointToPoint();
    if (IsAllToAllKind(kind_)) return AllToAll();
    for (const Protocol& protocol : kProtocols) {
      Ring(protocol);
      if (IsAllReduceKind(kind_)) Tree(protocol);
    }
    if (machine_.node.in_switch_reduction > 0 && IsAllReduceKind(kind_) && topology_.per_node > 1) SwitchReduction();
    if (topology_.per_node == 1 && topology_.nodes > 1 && !IsAllReduceKind(kind_)) Pat();
    return best_;
  }

 private:
  bool both_ways() const { return IsAllReduceKind(kind_); }
  double nodes() const { return static_cast<double>(topology_.nodes); }
  double per_node() const { return static_cast<double>(topology_.per_node); }
  double LinkRate() const { return machine_.node.bandwidth * machine_.node.link_efficiency; }
  double NicRate() const { return machine_.cluster.nic * machine_.cluster.nic_efficiency; }
  // The rate of a ring through all members. Between nodes, the ring uses the NICs of all members in a node.
  double RingRate() const {
    if (topology_.nodes == 1) return LinkRate();
    const double network = NicRate() * per_node();
    return per_node() > 1 ? std::min(LinkRate(), network) : network;
  }
  // Bytes that each member sends.
  double WireBytes() const { return (both_ways() ? 2 : 1) * bytes_ * (n_ - 1) / n_; }
  // Hop and NetHop scale latencies from the tables, which assume 3.4 us for a link and 14 us for the network.
  double Hop(double table) const { return table * machine_.node.latency / 3.4e-6; }
  double NetHop(double table) const { return table * machine_.cluster.latency / 14e-6; }
  // The software latency before data moves. It is 0 on an ideal machine without latencies.
  double BaseLatency(double table) const { return machine_.node.latency > 0 || machine_.cluster.latency > 0 ? table : 0; }

  // Keeps the fastest candidate. Since chunks are pipelined, the latency of the steps overlaps with the transfer.
  void Consider(double base_us, double steps_us, double transfer, std::string name) {
    base_us = BaseLatency(base_us);
    const double latency = (base_us + steps_us) * 1e-6;
    const double seconds = base_us * 1e-6 + std::max(steps_us * 1e-6, transfer) + .1 * std::min(steps_us * 1e-6, transfer);
    if (best_.algorithm.empty() || seconds < best_.seconds) best_ = {seconds, std::min(seconds, latency), std::move(name), {}};
  }

  void Ring(const Protocol& protocol) {
    const double phases = both_ways() ? 2 : 1;
    const double network_steps = phases * (nodes() - 1);
    const double steps = phases * (n_ - 1) - network_steps;
    Consider(protocol.ring_base, steps * Hop(protocol.ring_hop) + network_steps * NetHop(protocol.ring_net),
             WireBytes() / (RingRate() * protocol.efficiency), StrCat("ring, ", protocol.name));
  }

  void Tree(const Protocol& protocol) {
    const double steps = 2 * ((per_node() - 1) * Hop(protocol.tree_hop) + std::log2(nodes()) * NetHop(protocol.tree_net));
    Consider(protocol.tree_base, steps, WireBytes() / (RingRate() * protocol.efficiency * .92 * (topology_.nodes == 1 ? .6 : 1)),
             StrCat("tree, ", protocol.name));
  }

  // The switch reduces within a node. Between nodes, each rail carries one tree.
  void SwitchReduction() {
    double rate = machine_.node.bandwidth;
    if (topology_.nodes > 1)
      rate = std::min(rate, .8 * NicRate() * per_node() * ((n_ - 1) / n_) / ((nodes() - 1) / nodes()));
    Consider(kNvlsBase, 2 * std::log2(nodes()) * NetHop(kNvlsNet), WireBytes() / rate, topology_.nodes > 1 ? "NVLS tree" : "NVLS");
  }

  void Pat() {
    Consider(8, std::log2(nodes()) * NetHop(14) / 3.5 + 2.8 * n_, WireBytes() / RingRate(), "PAT");
  }

  CollectiveTiming PointToPoint() const {
    const bool network = topology_.nodes > 1;
    // A mesh has one link per pair of devices. Through a switch, a message can use most of the links of a device.
    const double link = machine_.node.links == NodeLinks::kMesh
                            ? machine_.node.bandwidth / std::max(1.0, machine_.node.devices - 1)
                            : machine_.node.bandwidth * machine_.node.link_efficiency * .76;
    const double latency = (BaseLatency(8) + (network ? NetHop(14) : Hop(3.4))) * 1e-6;
    return {latency + bytes_ / (network ? NicRate() : link), latency, network ? "point to point, network" : "point to point", {}};
  }

  // The NICs limit the traffic between nodes. The links limit the traffic within a node.
  CollectiveTiming AllToAll() const {
    const double intra_node = bytes_ * (per_node() - 1) / n_ / LinkRate();
    const double inter_node = topology_.nodes > 1 ? bytes_ * (n_ - per_node()) / n_ / NicRate() : 0;
    const double latency = (BaseLatency(20) + (topology_.nodes > 1 ? NetHop(14 + .3 * (n_ - per_node())) : 0)) * 1e-6;
    return {latency + std::max(intra_node, inter_node), latency, "all to all, direct", {}};
  }

  Opcode kind_;
  double bytes_;
  const GroupTopology& topology_;
  const Machine& machine_;
  double n_;
  CollectiveTiming best_;
};

}  // namespace

CollectiveTiming NcclTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine) {
  return NcclModel(kind, bytes, topology, machine).Best();
}

}  // namespace shoal::internal
