#include "analyze/diff/group_names.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

bool HasGroups(const Instruction& hlo) { return hlo.has(kReplicaGroups) || HasSourceTargetPairs(hlo); }

}  // namespace

GroupNames::GroupNames(const Module& module) : table_(InferDevices(module).grid) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (HasGroups(*hlo)) table_.Of(*hlo);
  const DeviceMesh mesh(module, table_);  // sets the axis of each entry
}

std::string GroupNames::Of(const Instruction& hlo) {
  if (!HasGroups(hlo)) return "";
  const Participants& participants = table_.Of(hlo);
  return participants.pattern.empty() ? participants.axis : StrCat(participants.axis, ", ", participants.pattern);
}

}  // namespace shoal::internal
