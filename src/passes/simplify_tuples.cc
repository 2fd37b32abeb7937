#include "ir/rewrite.h"
#include "passes/pass.h"
#include "ops/families.h"

namespace shoal {
namespace {

int64_t ElementOf(const Instruction& hlo) { return hlo[Op<Opcode::kGetTupleElement>::kIndex]; }

// tuple(gte(t, 0), gte(t, 1), …) of all elements of t.
Instruction* RebuiltTuple(const Instruction& hlo) {
  if (hlo.operand_count() == 0 || hlo.operands[0]->opcode != Opcode::kGetTupleElement) return nullptr;
  Instruction* whole = hlo.operands[0]->operands[0];
  if (whole->shape().elements().size() != hlo.operand_count() || whole->shape_ != hlo.shape_) return nullptr;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Instruction& element = *hlo.operands[i];
    if (element.opcode != Opcode::kGetTupleElement || element.operands[0] != whole ||
        ElementOf(element) != static_cast<int64_t>(i))
      return nullptr;
  }
  return whole;
}

}  // namespace

Result<bool> SimplifyTuples(Module& module) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    for (Instruction* hlo : computation->instructions) {
      if (!(*hlo)[kControlPredecessors].empty()) continue;
      if (hlo->opcode == Opcode::kGetTupleElement) {
        const Instruction* tuple = Resolve(replacements, hlo->operands[0]);
        if (tuple->opcode == Opcode::kTuple) replacements[hlo] = tuple->operands[static_cast<size_t>(ElementOf(*hlo))];
      } else if (hlo->opcode == Opcode::kTuple && hlo != computation->root) {
        if (Instruction* whole = RebuiltTuple(*hlo)) replacements[hlo] = whole;
      }
    }
    any |= !replacements.empty();
    Apply(replacements, module, *computation);
  }
  return any;
}

}  // namespace shoal
