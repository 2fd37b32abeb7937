// Control flow and fusions run on the thread of their caller. Calls may use another thread, as in XLA by default.
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {

void CheckThreads(VerifierContext& context) {
  ForEachInstruction(context, [&](const Instruction& hlo) {
    if (!IsBranch(hlo) && !IsFusion(hlo) && !IsLoop(hlo)) return;
    for (const Computation* called : CalledComputations(hlo)) {
      if (called == nullptr || called->execution_thread == hlo.parent->execution_thread) continue;
      context.Add(hlo, "thread.C1",
                  StrCat("computation ", called->name, " must run on its caller's thread, \"",
                         hlo.parent->execution_thread, "\", got \"", called->execution_thread, "\""));
    }
  });
}

}  // namespace shoal::internal
