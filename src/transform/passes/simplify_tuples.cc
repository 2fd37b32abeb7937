#include "core/ir/rewrite.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {


// For tuple(gte(t, 0), gte(t, 1), …) of all elements of t: the tuple t.
Instruction* RebuiltTuple(const Instruction& hlo) {
  if (hlo.operand_count() == 0 || !IsGetTupleElement(*hlo.operands[0])) return nullptr;
  Instruction* whole = hlo.operands[0]->operands[0];
  if (whole->shape().elements().size() != hlo.operand_count() || whole->shape_ != hlo.shape_) return nullptr;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Instruction& element = *hlo.operands[i];
    if (!IsGetTupleElement(element) || element.operands[0] != whole ||
        ElementIndexOf(element) != static_cast<int64_t>(i))
      return nullptr;
  }
  return whole;
}

}  // namespace

Result<bool> SimplifyTuples(Module& module, const PassContext& context) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    for (Instruction* hlo : computation->instructions) {
      if (!(*hlo)[kControlPredecessors].empty()) continue;
      if (IsGetTupleElement(*hlo)) {
        const Instruction* tuple = ResolveReplacement(replacements, hlo->operands[0]);
        if (IsTuple(*tuple)) replacements[hlo] = tuple->operands[static_cast<size_t>(ElementIndexOf(*hlo))];
      } else if (IsTuple(*hlo) && hlo != computation->root) {
        if (Instruction* whole = RebuiltTuple(*hlo)) replacements[hlo] = whole;
      }
    }
    any |= !replacements.empty();
    Apply(replacements, module, *computation);
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));  // a fusion must not contain unused instructions
  return any;
}

}  // namespace shoal::internal
