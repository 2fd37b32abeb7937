// The shardings of a module: those of its instructions, and those that the partitioner recorded for its entry computation.
#pragma once

#include "core/ir/common_attrs.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Of a parameter or the root of the entry computation: the sharding that the SPMD partitioner recorded. Only protobufs
// have it; text has no form for it.
inline constexpr Attr<const Sharding*> kRecordedSharding{"(recorded sharding)"};

// The sharding of a parameter or the root of the entry computation: its own, else the recorded one; null if it has none.
inline const Sharding* EntrySharding(const Instruction& hlo) {
  const Sharding* own = hlo[kSharding];
  return own == nullptr ? hlo[kRecordedSharding] : own;
}

// Calls visit(sharding, instruction) for the sharding of each instruction, then for the recorded ones of instructions
// that have no other.
template <class Visit>
void ForEachSharding(const Module& module, Visit visit) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (const Sharding* sharding = (*hlo)[kSharding]) visit(*sharding, *hlo);
  if (module.entry == nullptr) return;
  for (const Instruction* hlo : module.entry->instructions)
    if (const Sharding* sharding = (*hlo)[kRecordedSharding]; sharding != nullptr && !hlo->has(kSharding)) visit(*sharding, *hlo);
}

}  // namespace shoal::internal
