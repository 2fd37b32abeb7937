// In a scheduled module, operands come before their users. Fused computations and computations without callers have
// no schedule.
#include "core/ir/common_attrs.h"
#include "core/verify/checks.h"

namespace shoal::internal {

void CheckSchedule(VerifierContext& context) {
  const Module& module = context.module();
  if (!module.is_scheduled) return;
  for (const Computation* computation : context.computations()) {
    const bool dead = computation != module.entry && context.CallersOf(*computation).empty();
    if (dead || context.IsFused(*computation)) continue;
    for (const Instruction* hlo : computation->instructions) {
      for (const Instruction* operand : hlo->operands)
        if (operand->index >= hlo->index)
          context.Add(*hlo, "schedule.C1",
                      StrCat("must be scheduled after its operand ", operand->name, ", but comes before it"));
      for (const Instruction* before : (*hlo)[kControlPredecessors])
        if (before->index >= hlo->index)
          context.Add(
              *hlo, "schedule.C2",
              StrCat("must be scheduled after its control predecessor ", before->name, ", but comes before it"));
    }
  }
}

}  // namespace shoal::internal
