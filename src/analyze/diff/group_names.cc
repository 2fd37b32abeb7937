#include "analyze/diff/group_names.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

bool JoinsDevices(const Instruction& hlo) { return hlo.has(kReplicaGroups) || HasSourceTargetPairs(hlo); }

}  // namespace

GroupNames::GroupNames(const Module& module) : memberships_(InferDevices(module).grid) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (JoinsDevices(*hlo)) memberships_.Of(*hlo);
  const DeviceMesh mesh(module, memberships_);  // gives each membership its axis
}

std::string GroupNames::Of(const Instruction& hlo) {
  if (!JoinsDevices(hlo)) return "";
  const Participants& membership = memberships_.Of(hlo);
  return membership.pattern.empty() ? membership.axis : StrCat(membership.axis, ", ", membership.pattern);
}

}  // namespace shoal::internal
