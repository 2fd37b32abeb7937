#include "ir/rewrite.h"
#include "ops/traits.h"
#include "passes/loop_ops.h"
#include "passes/pass.h"

namespace shoal {

Result<bool> RemoveDeadCode(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) {
    auto is_kept = [](const Instruction& hlo) {
      if (Info(hlo.opcode).op_class == OpClass::kOpaque) return HasSideEffect(hlo);
      return !IsFunction(hlo);
    };
    any |= RemoveUnused(*computation, is_kept);
  }
  any |= RemoveUncalled(module);
  return any;
}

}  // namespace shoal
