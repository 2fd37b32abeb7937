#include "analyze/cost/collective_time.h"

#include <algorithm>
#include <cmath>

#include "analyze/cost/curves.h"
#include "analyze/cost/nccl_model.h"
#include "analyze/cost/torus_model.h"
#include "core/base/strings.h"
#include "core/ops/op.h"

namespace shoal {
namespace {

// A group within a node on a device whose collectives were measured. Outside the sizes that were measured the nearest
// one is scaled as the model says.
std::optional<CollectivePrice> Measured(Opcode kind, double bytes, const GroupPlace& place, const Machine& machine) {
  const auto* curves = CurvesOf(machine.curves, Text(kind));
  if (curves == nullptr || curves->empty() || place.nodes > 1) return std::nullopt;
  CollectivePrice price;
  if (place.permutes) {
    price.seconds = curves->begin()->second.At(bytes);
    price.algorithm = "measured";
    price.latency = std::min(price.seconds, curves->begin()->second.At(1));
    return price;
  }
  if (const auto seconds = MeasuredTime(*curves, bytes, place.members)) {
    price.seconds = *seconds;
    price.algorithm = StrCat("measured", curves->contains(place.members) ? "" : " on groups around it");
    price.latency = std::min(price.seconds, MeasuredTime(*curves, 1, place.members).value_or(0));
    return price;
  }
  const auto& [members, curve] = place.members < curves->begin()->first ? *curves->begin() : *curves->rbegin();
  GroupPlace nearest = place;
  nearest.members = nearest.per_node = members;
  const double ratio = NcclTime(kind, bytes, place, machine).seconds / NcclTime(kind, bytes, nearest, machine).seconds;
  price.seconds = curve.At(bytes) * ratio;
  price.latency = std::min(price.seconds, curve.At(1) * ratio);
  price.algorithm = StrCat("measured on ", members, " devices, scaled");
  return price;
}

}  // namespace

CollectivePrice CollectiveTime(Opcode kind, double bytes, const GroupPlace& place, const Machine& machine) {
  CollectivePrice price;
  if ((place.members <= 1 && !place.permutes) || bytes <= 0) {
    price.algorithm = "nothing to do";
    return price;
  }
  if (machine.node.links == NodeLinks::kTorus) {
    price = TorusTime(kind, bytes, place, machine);
  } else if (const auto measured = Measured(kind, bytes, place, machine)) {
    price = *measured;
  } else {
    price = NcclTime(kind, bytes, place, machine);
    // More nodes never help: what one node's members take by themselves is the least.
    GroupPlace inside{place.per_node, place.per_node, 1, {}, 1, false};
    if (place.nodes > 1 && place.per_node > 1 && !place.permutes)
      if (const auto least = Measured(kind, bytes, inside, machine))
        price.seconds = std::max(price.seconds, least->seconds);
  }
  price.fabric = place.nodes > 1 && machine.node.links != NodeLinks::kTorus ? Fabric::kNetwork : Fabric::kNode;
  return price;
}

}  // namespace shoal
