#include "core/ir/rewrite.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {

Result<bool> RemoveDeadCode(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) {
    auto is_kept = [](const Instruction& hlo) {
      if (Info(hlo.opcode).op_class == OpClass::kOpaque) return CustomCallHasSideEffect(hlo);
      return !IsPureAndMovable(hlo);
    };
    any |= RemoveUnused(*computation, is_kept);
  }
  any |= RemoveUncalled(module);
  return any;
}

}  // namespace shoal::internal
