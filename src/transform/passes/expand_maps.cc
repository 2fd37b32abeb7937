// Rewrites a map as the ops of its function on whole arrays.
#include <algorithm>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/passes/apply_to_arrays.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool IsExpandable(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kMap || !hlo[kControlPredecessors].empty() || hlo.operand_count() == 0) return false;
  const Computation& function = *hlo[kToApply];
  if (!IsElementwiseFunction(function) || function.parameters.size() != hlo.operand_count()) return false;
  const Shape& shape = hlo.shape();
  if (!shape.IsArray() || shape.has_dynamic() || function.root->shape().element_type() != shape.element_type()) return false;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Shape& operand = hlo.operand_shape(i);
    if (!std::ranges::equal(operand.dims(), shape.dims()) || operand.has_dynamic() ||
        operand.element_type() != function.parameters[i]->shape().element_type())
      return false;
  }
  return true;
}

}  // namespace

Result<bool> ExpandMaps(Module& module, const PassContext& context) {
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations) {
    if (embedded.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (IsExpandable(*hlo)) replacements[hlo] = ApplyToArrays(*(*hlo)[kToApply], hlo->operands, module, *computation, *hlo);
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any ? RemoveDeadCode(module, context) : Result<bool>(false);
}

}  // namespace shoal::internal
