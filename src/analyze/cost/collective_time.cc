#include "analyze/cost/collective_time.h"

#include <algorithm>
#include <cmath>

#include "analyze/cost/curves.h"
#include "analyze/cost/nccl_model.h"
#include "analyze/cost/torus_model.h"
#include "core/base/strings.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// A group within a node on a device whose collectives were measured. Outside the sizes that were measured the nearest
// one is scaled as the model says.
std::optional<CollectiveTiming> Measured(Opcode kind, double bytes, const GroupTopology& place, const Machine& machine) {
  const auto* curves = CurvesOf(machine.curves, Text(kind));
  if (curves == nullptr || curves->empty() || place.nodes > 1) return std::nullopt;
  CollectiveTiming timing;
  if (place.permutes) {
    timing.seconds = curves->begin()->second.At(bytes);
    timing.algorithm = "measured";
    timing.latency = std::min(timing.seconds, curves->begin()->second.At(1));
    return timing;
  }
  if (const auto seconds = MeasuredTime(*curves, bytes, place.members)) {
    timing.seconds = *seconds;
    timing.algorithm = StrCat("measured", curves->contains(place.members) ? "" : " on groups around it");
    timing.latency = std::min(timing.seconds, MeasuredTime(*curves, 1, place.members).value_or(0));
    return timing;
  }
  const auto& [members, curve] = place.members < curves->begin()->first ? *curves->begin() : *curves->rbegin();
  GroupTopology nearest = place;
  nearest.members = nearest.per_node = members;
  const double ratio = NcclTime(kind, bytes, place, machine).seconds / NcclTime(kind, bytes, nearest, machine).seconds;
  timing.seconds = curve.At(bytes) * ratio;
  timing.latency = std::min(timing.seconds, curve.At(1) * ratio);
  timing.algorithm = StrCat("measured on ", members, " devices, scaled");
  return timing;
}

}  // namespace

CollectiveTiming CollectiveTime(Opcode kind, double bytes, const GroupTopology& place, const Machine& machine) {
  CollectiveTiming timing;
  if ((place.members <= 1 && !place.permutes) || bytes <= 0) {
    timing.algorithm = "nothing to do";
    return timing;
  }
  if (machine.node.links == NodeLinks::kTorus) {
    timing = TorusTime(kind, bytes, place, machine);
  } else if (const auto measured = Measured(kind, bytes, place, machine)) {
    timing = *measured;
  } else {
    timing = NcclTime(kind, bytes, place, machine);
    // More nodes never help: what one node's members take by themselves is the least.
    GroupTopology inside{place.per_node, place.per_node, 1, {}, 1, false};
    if (place.nodes > 1 && place.per_node > 1 && !place.permutes)
      if (const auto least = Measured(kind, bytes, inside, machine))
        timing.seconds = std::max(timing.seconds, least->seconds);
  }
  timing.fabric = place.nodes > 1 && machine.node.links != NodeLinks::kTorus ? Fabric::kNetwork : Fabric::kNode;
  return timing;
}

}  // namespace shoal::internal
