#include "analyze/cost/torus_model.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"

namespace shoal::internal {

CollectiveTiming TorusTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine) {
  const TorusModel& torus = machine.torus;
  const double link = torus.link * torus.link_efficiency;
  CollectiveTiming timing;
  if (topology.permutes) {
    timing.latency = torus.hop * static_cast<double>(std::max<int64_t>(1, topology.hops));
    timing.seconds = timing.latency + bytes / link;
    timing.algorithm = StrCat("torus, ", topology.hops, topology.hops == 1 ? " hop" : " hops");
    return timing;
  }
  // Data moves along all axes of the group simultaneously. It moves in both directions along an axis that is a ring.
  double hops = 0, rate = 0;
  int axes = 0;
  for (int64_t size : topology.torus) {
    if (size <= 1) continue;
    const bool ring = size % std::max<int64_t>(1, static_cast<int64_t>(torus.min_ring_size)) == 0;
    hops += ring ? static_cast<double>(size) / 2 : static_cast<double>(size - 1);
    rate += ring ? 2 * link : link;
    ++axes;
  }
  if (axes == 0) axes = 1, hops = static_cast<double>(topology.members - 1), rate = link;
  const auto members = static_cast<double>(topology.members);
  const double phases = IsAllReduceKind(kind) ? 2 : 1;  // reduce-scatter, then all-gather
  double transfer = bytes * (members - 1) / members / rate;
  if (IsAllToAllKind(kind)) transfer /= 4;  // an all-to-all moves half the bytes over half the distance
  timing.latency = phases * hops * torus.hop;
  timing.seconds = std::max(timing.latency, phases * transfer) + (torus.hop > 0 ? 2e-6 : 0);
  timing.algorithm = StrCat("torus, ", axes, axes == 1 ? " axis" : " axes");
  // Members in different slices communicate over the network of the hosts.
  double slice = 1;
  for (int64_t size : torus.dims) slice *= static_cast<double>(size);
  if (members > slice) {
    const double slices = members / slice;
    const double network = machine.cluster.nic * machine.cluster.nic_efficiency;
    timing.seconds += phases * bytes / slice * (slices - 1) / slices / network + machine.cluster.latency;
    timing.latency += machine.cluster.latency;
    timing.algorithm += " and the network between slices";
  }
  return timing;
}

}  // namespace shoal::internal
