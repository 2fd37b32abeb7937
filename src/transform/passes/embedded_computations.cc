#include "transform/passes/embedded_computations.h"

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

absl::flat_hash_set<const Computation*> EmbeddedComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> found = WrappedComputations(module);
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && (CallKindOf(*hlo) == CallKind::kElements || IsFusion(*hlo) ||
                                      Info(hlo->opcode).op_class == OpClass::kOpaque))
        for (const Computation* callee : CalledComputations(*hlo)) found.insert(callee);
  return found;
}

absl::flat_hash_set<const Computation*> WrappedComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> found;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (WrapsComputation(*hlo))
        for (const Computation* callee : CalledComputations(*hlo)) found.insert(callee);
  return found;
}

}  // namespace shoal::internal
