#include "passes/parts_of_ops.h"

#include "ops/families.h"

namespace shoal {

absl::flat_hash_set<const Computation*> ComputationsInOps(const Module& module) {
  absl::flat_hash_set<const Computation*> found;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && (CallKindOf(*hlo) == CallKind::kElements || hlo->opcode == Opcode::kFusion ||
                                      Info(hlo->opcode).op_class == OpClass::kOpaque))
        for (const Computation* callee : CalledComputations(*hlo)) found.insert(callee);
  return found;
}

void DropAttr(Instruction& hlo, Module& module, uint32_t id) {
  std::vector<NamedAttr> kept;
  for (const NamedAttr& attr : hlo.attrs)
    if (attr.id != id) kept.push_back(attr);
  hlo.attrs = module.arena.Copy(kept);
}

}  // namespace shoal
