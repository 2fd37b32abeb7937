// In a scheduled module, what is used comes before its users. Fusions and computations that nobody calls have
// no schedule.
#include "core/ir/common_attrs.h"
#include "core/verify/checks.h"

namespace shoal::internal {

void CheckSchedule(VerifierContext& inspection) {
  const Module& module = inspection.module();
  if (!module.is_scheduled) return;
  for (const Computation* computation : inspection.computations()) {
    const bool dead = computation != module.entry && inspection.CallersOf(*computation).empty();
    if (dead || inspection.IsFused(*computation)) continue;
    for (const Instruction* hlo : computation->instructions) {
      for (const Instruction* operand : hlo->operands)
        if (operand->index >= hlo->index)
          inspection.Add(*hlo, "schedule.C1",
                         StrCat("must be scheduled after its operand ", operand->name, ", but comes before it"));
      for (const Instruction* before : (*hlo)[kControlPredecessors])
        if (before->index >= hlo->index)
          inspection.Add(
              *hlo, "schedule.C2",
              StrCat("must be scheduled after its control predecessor ", before->name, ", but comes before it"));
    }
  }
}

}  // namespace shoal::internal
