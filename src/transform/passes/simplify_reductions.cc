// Replaces a reduction over dimensions of size 1 by a reshape, and a sort along one by its operands. As in XLA, the initial
// value of the reduction is assumed to be the identity of the function.
#include <algorithm>

#include "core/ir/rewrite.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool OnlyDropsDimensions(const Instruction& hlo) {
  if (!IsReduce(hlo) || hlo.operand_count() != 2 || !hlo.shape().IsArray()) return false;
  if (!hlo[kControlPredecessors].empty() || hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return false;
  const ElementType type = hlo.shape().element_type();
  const Computation& function = *hlo[kToApply];
  if (hlo.operand_shape(0).element_type() != type || function.parameters.empty() ||
      function.parameters[0]->shape().element_type() != type || HasEffects(function))
    return false;
  const Ints reduced = hlo[kDimensions];
  return hlo.shape().ElementCount().value_or(0) > 0 &&
         std::all_of(reduced.begin(), reduced.end(), [&](int64_t d) { return hlo.operand_shape(0).dim(d) == 1; });
}

// True for a sort of rows of one element, whose comparator is never called.
bool SortsNothing(const Instruction& hlo) {
  if (!IsSort(hlo) || !hlo[kControlPredecessors].empty()) return false;
  const Shape& operand = hlo.operand_shape(0);
  return operand.IsArray() && !operand.has_dynamic() && operand.dim(hlo[kDimensions][0]) == 1;
}

// The value that replaces an instruction, or null.
Instruction* Simplified(const Instruction& hlo, Module& module, Computation& computation) {
  if (OnlyDropsDimensions(hlo)) return NewReshape(module, computation, hlo.shape_, hlo.operands[0], hlo);
  if (SortsNothing(hlo)) return hlo.shape().IsTuple() ? NewTuple(module, computation, hlo.operands, hlo) : hlo.operands[0];
  if (IsGetTupleElement(hlo) && hlo[kControlPredecessors].empty() && SortsNothing(*hlo.operands[0]))
    return hlo.operands[0]->operands[static_cast<size_t>(ElementIndexOf(hlo))];
  return nullptr;
}

}  // namespace

Result<bool> SimplifyReductions(Module& module, const PassContext& context) {
  bool any = false;
  const auto wrapped = WrappedComputations(module);
  for (Computation* computation : module.computations) {
    if (wrapped.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (Instruction* simple = Simplified(*hlo, module, *computation)) replacements[hlo] = simple;
    if (replacements.empty()) continue;
    any = true;
    Apply(replacements, module, *computation);
    SortTopologically(*computation);
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
