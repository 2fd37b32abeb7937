// Control flow and fusions stay on their thread. Calls may leave it, as XLA lets them by default.
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {

void CheckThreads(VerifierContext& inspection) {
  ForEachInstruction(inspection, [&](const Instruction& hlo) {
    if (!IsBranch(hlo) && !IsFusion(hlo) && !IsLoop(hlo)) return;
    for (const Computation* called : CalledComputations(hlo)) {
      if (called == nullptr || called->execution_thread == hlo.parent->execution_thread) continue;
      inspection.Add(hlo, "thread.C1",
                     StrCat("computation ", called->name, " must run on thread \"", hlo.parent->execution_thread,
                            "\" as its caller, got \"", called->execution_thread, "\""));
    }
  });
}

}  // namespace shoal::internal
