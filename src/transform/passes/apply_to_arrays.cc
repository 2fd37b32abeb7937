#include "transform/passes/apply_to_arrays.h"

#include <algorithm>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"

namespace shoal::internal {

bool IsElementwiseFunction(const Computation& function) {
  return std::all_of(function.instructions.begin(), function.instructions.end(), [](const Instruction* hlo) {
    if (!hlo->shape().IsArray() || !(*hlo)[kControlPredecessors].empty()) return false;
    return IsParameter(*hlo) || IsConstant(*hlo) ? hlo->shape().rank() == 0 : IsElementwise(*hlo);
  });
}

Instruction* ApplyToArrays(const Computation& function, std::span<Instruction* const> arguments, Module& module,
                           Computation& computation, const Instruction& instead_of) {
  const Ints dims = arguments[0]->shape().dims();
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  for (size_t i = 0; i < arguments.size(); ++i) copies[function.parameters[i]] = arguments[i];
  for (const Instruction* hlo : function.instructions) {
    if (IsParameter(*hlo)) continue;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : hlo->operands) operands.push_back(copies.at(operand));
    Instruction* copy = CopyInstruction(module, computation, *hlo, operands);
    const Shape* shape = module.shapes.Array(hlo->shape().element_type(), dims);
    if (IsConstant(*hlo)) {
      copy = NewBroadcast(module, computation, shape, copy, {}, instead_of);
    } else {
      copy->shape_ = shape;
    }
    copies[hlo] = copy;
  }
  return copies.at(function.root);
}

}  // namespace shoal::internal
