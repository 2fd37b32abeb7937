#include "analyze/cost/collective_time.h"

#include <algorithm>

#include "analyze/cost/curves.h"
#include "analyze/cost/nccl_model.h"
#include "analyze/cost/torus_model.h"
#include "core/base/strings.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// Returns the measured time for a group within a node, or nullopt if the device was not measured. For a group smaller
// or larger than all measured ones, scales the time of the nearest size by the ratio that the model predicts.
std::optional<CollectiveTiming> MeasuredTiming(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine) {
  const auto* curves = CurvesOf(machine.curves, Text(kind));
  if (curves == nullptr || curves->empty() || topology.nodes > 1) return std::nullopt;
  CollectiveTiming timing;
  if (topology.permutes) {
    timing.seconds = curves->begin()->second.SecondsAt(bytes);
    timing.algorithm = "measured";
    timing.latency = std::min(timing.seconds, curves->begin()->second.SecondsAt(1));
    return timing;
  }
  if (const auto seconds = MeasuredTime(*curves, bytes, topology.members)) {
    timing.seconds = *seconds;
    timing.algorithm = StrCat("measured", curves->contains(topology.members) ? "" : ", interpolated between group sizes");
    timing.latency = std::min(timing.seconds, MeasuredTime(*curves, 1, topology.members).value_or(0));
    return timing;
  }
  const auto& [members, curve] = topology.members < curves->begin()->first ? *curves->begin() : *curves->rbegin();
  GroupTopology nearest = topology;
  nearest.members = nearest.per_node = members;
  const double ratio = NcclTime(kind, bytes, topology, machine).seconds / NcclTime(kind, bytes, nearest, machine).seconds;
  timing.seconds = curve.SecondsAt(bytes) * ratio;
  timing.latency = std::min(timing.seconds, curve.SecondsAt(1) * ratio);
  timing.algorithm = StrCat("measured on ", members, " devices, scaled");
  return timing;
}

}  // namespace

CollectiveTiming CollectiveTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine) {
  CollectiveTiming timing;
  if ((topology.members <= 1 && !topology.permutes) || bytes <= 0) {
    timing.algorithm = "nothing to do";
    return timing;
  }
  if (machine.node.links == NodeLinks::kTorus) {
    timing = TorusTime(kind, bytes, topology, machine);
  } else if (const auto measured = MeasuredTiming(kind, bytes, topology, machine)) {
    timing = *measured;
  } else {
    timing = NcclTime(kind, bytes, topology, machine);
    // The measured time within one node is a lower bound for a group that spans several nodes.
    GroupTopology one_node{topology.per_node, topology.per_node, 1, {}, 1, false};
    if (topology.nodes > 1 && topology.per_node > 1 && !topology.permutes)
      if (const auto lower_bound = MeasuredTiming(kind, bytes, one_node, machine))
        timing.seconds = std::max(timing.seconds, lower_bound->seconds);
  }
  timing.fabric = topology.nodes > 1 && machine.node.links != NodeLinks::kTorus ? Fabric::kNetwork : Fabric::kNode;
  return timing;
}

}  // namespace shoal::internal
