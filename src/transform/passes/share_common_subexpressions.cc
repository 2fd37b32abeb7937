#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "core/ir/equivalence.h"
#include "core/ir/rewrite.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

struct InstructionHash {
  size_t operator()(const Instruction* hlo) const {
    size_t hash = absl::HashOf(static_cast<int>(hlo->opcode), hlo->shape_);
    for (const Instruction* operand : hlo->operands) hash = absl::HashOf(hash, operand);
    return hash;
  }
};

struct InstructionEqual {
  bool operator()(const Instruction* a, const Instruction* b) const {
    if (a == b) return true;
    if (a->opcode != b->opcode || a->shape_ != b->shape_ || a->operand_count() != b->operand_count()) return false;
    for (size_t i = 0; i < a->operand_count(); ++i)
      if (a->operands[i] != b->operands[i]) return false;
    return HaveEqualAttributes(*a, *b);
  }
};

}  // namespace

Result<bool> ShareCommonSubexpressions(Module& module, const PassContext& context) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    absl::flat_hash_set<Instruction*, InstructionHash, InstructionEqual> seen;
    for (Instruction* hlo : computation->instructions) {
      for (Instruction*& operand : hlo->operands) operand = ResolveReplacement(replacements, operand);
      if (!IsPureAndMovable(*hlo) || !(*hlo)[kControlPredecessors].empty()) continue;
      auto [first, is_new] = seen.insert(hlo);
      if (!is_new) replacements[hlo] = *first;
    }
    any |= !replacements.empty();
    Apply(replacements, module, *computation);
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));  // a fusion must not contain unused instructions
  return any;
}

}  // namespace shoal::internal
