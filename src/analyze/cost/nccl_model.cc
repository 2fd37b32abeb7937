#include "analyze/cost/nccl_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// Microseconds of NCCL's tuning tables: before anything moves, of a hop in a node, of a hop between nodes.
struct Protocol {
  std::string_view name;
  double share;  // of the bandwidth that is data
  double ring_base, ring_hop, ring_net;
  double tree_base, tree_hop, tree_net;
};
constexpr Protocol kProtocols[] = {
    {"LL", .5, 6.6, .6, 2.7, 6.8, .6, 5},
    {"LL128", .92, 14, 1.9, 4, 14, 1.25, 8.5},
    {"Simple", 1, 8.4, 3.4, 14, 8.4, 4, 14},
};
constexpr double kNvlsBase = 25, kNvlsNet = 20.9;  // reductions in the switch

class NcclModel {
 public:
  NcclModel(Opcode kind, double bytes, const GroupTopology& place, const Machine& machine)
      : kind_(kind), bytes_(bytes), place_(place), machine_(machine), n_(static_cast<double>(place.members)) {}

  CollectiveTiming Best() {
    if (IsPairedKind(kind_) || place_.permutes) return PointToPoint();
    if (IsAllToAllKind(kind_)) return AllToAll();
    for (const Protocol& protocol : kProtocols) {
      Ring(protocol);
      if (IsAllReduceKind(kind_)) Tree(protocol);
    }
    if (machine_.node.in_switch_reduction > 0 && IsAllReduceKind(kind_) && place_.per_node > 1) SwitchSums();
    if (place_.per_node == 1 && place_.nodes > 1 && !IsAllReduceKind(kind_)) Pat();
    return best_;
  }

 private:
  bool both_ways() const { return IsAllReduceKind(kind_); }
  double nodes() const { return static_cast<double>(place_.nodes); }
  double per_node() const { return static_cast<double>(place_.per_node); }
  double LinkRate() const { return machine_.node.bandwidth * machine_.node.link_efficiency; }
  double NicRate() const { return machine_.cluster.nic * machine_.cluster.nic_efficiency; }
  // Of a ring through all members: rails of all devices of a node carry it between nodes.
  double RingRate() const {
    if (place_.nodes == 1) return LinkRate();
    const double network = NicRate() * per_node();
    return per_node() > 1 ? std::min(LinkRate(), network) : network;
  }
  // What passes each member.
  double WireBytes() const { return (both_ways() ? 2 : 1) * bytes_ * (n_ - 1) / n_; }
  // The tables are for links of 3.4 us and a network of 14 us.
  double Hop(double table) const { return table * machine_.node.latency / 3.4e-6; }
  double NetHop(double table) const { return table * machine_.cluster.latency / 14e-6; }
  // Before anything moves: of software, but none on an ideal machine.
  double Begin(double table) const { return machine_.node.latency > 0 || machine_.cluster.latency > 0 ? table : 0; }

  // Long rings are bound by either their steps or their bytes: chunks travel while others are on their way.
  void Offer(double base_us, double steps_us, double transfer, std::string name) {
    base_us = Begin(base_us);
    const double latency = (base_us + steps_us) * 1e-6;
    const double seconds = base_us * 1e-6 + std::max(steps_us * 1e-6, transfer) + .1 * std::min(steps_us * 1e-6, transfer);
    if (best_.algorithm.empty() || seconds < best_.seconds) best_ = {seconds, std::min(seconds, latency), std::move(name), {}};
  }

  void Ring(const Protocol& protocol) {
    const double rounds = both_ways() ? 2 : 1;
    const double inter = rounds * (nodes() - 1);
    const double steps = rounds * (n_ - 1) - inter;
    Offer(protocol.ring_base, steps * Hop(protocol.ring_hop) + inter * NetHop(protocol.ring_net),
          WireBytes() / (RingRate() * protocol.share), StrCat("ring, ", protocol.name));
  }

  void Tree(const Protocol& protocol) {
    const double steps = 2 * ((per_node() - 1) * Hop(protocol.tree_hop) + std::log2(nodes()) * NetHop(protocol.tree_net));
    Offer(protocol.tree_base, steps, WireBytes() / (RingRate() * protocol.share * .92 * (place_.nodes == 1 ? .6 : 1)),
          StrCat("tree, ", protocol.name));
  }

  // Within a node by the switch; between nodes each rail carries a tree.
  void SwitchSums() {
    double rate = machine_.node.bandwidth;
    if (place_.nodes > 1)
      rate = std::min(rate, .8 * NicRate() * per_node() * ((n_ - 1) / n_) / ((nodes() - 1) / nodes()));
    Offer(kNvlsBase, 2 * std::log2(nodes()) * NetHop(kNvlsNet), WireBytes() / rate, place_.nodes > 1 ? "NVLS tree" : "NVLS");
  }

  void Pat() {
    Offer(8, std::log2(nodes()) * NetHop(14) / 3.5 + 2.8 * n_, WireBytes() / RingRate(), "PAT");
  }

  CollectiveTiming PointToPoint() const {
    const bool network = place_.nodes > 1;
    // A mesh has a link to each of the others; a switch gives a message most of a device's links.
    const double link = machine_.node.links == NodeLinks::kMesh
                            ? machine_.node.bandwidth / std::max(1.0, machine_.node.devices - 1)
                            : machine_.node.bandwidth * machine_.node.link_efficiency * .76;
    const double latency = (Begin(8) + (network ? NetHop(14) : Hop(3.4))) * 1e-6;
    return {latency + bytes_ / (network ? NicRate() : link), latency, network ? "point to point, network" : "point to point", {}};
  }

  // Everybody to everybody: what leaves the node is bound by its rails, the rest by the links.
  CollectiveTiming AllToAll() const {
    const double inside = bytes_ * (per_node() - 1) / n_ / LinkRate();
    const double outside = place_.nodes > 1 ? bytes_ * (n_ - per_node()) / n_ / NicRate() : 0;
    const double latency = (Begin(20) + (place_.nodes > 1 ? NetHop(14 + .3 * (n_ - per_node())) : 0)) * 1e-6;
    return {latency + std::max(inside, outside), latency, "all to all, direct", {}};
  }

  Opcode kind_;
  double bytes_;
  const GroupTopology& place_;
  const Machine& machine_;
  double n_;
  CollectiveTiming best_;
};

}  // namespace

CollectiveTiming NcclTime(Opcode kind, double bytes, const GroupTopology& place, const Machine& machine) {
  return NcclModel(kind, bytes, place, machine).Best();
}

}  // namespace shoal::internal
