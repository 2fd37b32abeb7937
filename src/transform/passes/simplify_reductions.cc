// Replaces a reduction over dimensions of size 1 by a reshape. As in XLA, the initial value is assumed to be the
// identity of the function.
#include <algorithm>

#include "core/ir/rewrite.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool OnlyDropsDimensions(const Instruction& hlo) {
  if (!IsReduce(hlo) || hlo.operand_count() != 2 || !hlo.shape().IsArray()) return false;
  if (!hlo[kControlPredecessors].empty() || hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return false;
  const ElementType type = hlo.shape().element_type();
  const Computation& function = *hlo[kToApply];
  if (hlo.operand_shape(0).element_type() != type || function.parameters.empty() ||
      function.parameters[0]->shape().element_type() != type)
    return false;
  const Ints reduced = hlo[kDimensions];
  return hlo.shape().ElementCount().value_or(0) > 0 &&
         std::all_of(reduced.begin(), reduced.end(), [&](int64_t d) { return hlo.operand_shape(0).dim(d) == 1; });
}

}  // namespace

Result<bool> SimplifyReductions(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before) {
      if (!OnlyDropsDimensions(*hlo)) continue;
      replacements[hlo] = NewReshape(module, *computation, hlo->shape_, hlo->operands[0], *hlo);
    }
    if (replacements.empty()) continue;
    any = true;
    Apply(replacements, module, *computation);
    SortTopologically(*computation);
  }
  return any;
}

}  // namespace shoal::internal
