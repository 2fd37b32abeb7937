// Ops that must run even if nothing uses their results.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

// Scans each computation once, even if it is called several times.
bool CallsOnlyPureOps(const Instruction& hlo, absl::flat_hash_set<const Computation*>& seen) {
  for (const Computation* callee : CalledComputations(hlo)) {
    if (!seen.insert(callee).second) continue;
    for (const Instruction* inside : callee->instructions) {
      if (inside->opcode == Opcode::kParameter) continue;
      const bool calls = Info(inside->opcode).op_class == OpClass::kControlFlow;
      if (calls ? !CallsOnlyPureOps(*inside, seen) : !IsPureAndMovable(*inside)) return false;
    }
  }
  return true;
}

// Scans each computation once, even if it is called several times.
bool HasEffects(const Computation& computation, absl::flat_hash_set<const Computation*>& seen) {
  return std::any_of(computation.instructions.begin(), computation.instructions.end(), [&](const Instruction* hlo) {
    if (HasSideEffect(*hlo) || StartsCollective(*hlo)) return true;
    if (!CallsComputations(*hlo)) return false;
    const std::vector<Computation*> callees = CalledComputations(*hlo);
    return std::any_of(callees.begin(), callees.end(), [&](const Computation* callee) {
      return seen.insert(callee).second && HasEffects(*callee, seen);
    });
  });
}

}  // namespace

bool HasEffects(const Computation& computation) {
  absl::flat_hash_set<const Computation*> seen;
  return HasEffects(computation, seen);
}

bool IsPureAndMovable(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kControlFlow) {
    absl::flat_hash_set<const Computation*> seen;
    return CallsOnlyPureOps(hlo, seen);
  }
  if (hlo.opcode == Opcode::kRngBitGenerator) return true;  // deterministic, because its state is an operand
  return op_class != OpClass::kRandom && op_class != OpClass::kCollective && op_class != OpClass::kTransfer &&
         op_class != OpClass::kOpaque && hlo.opcode != Opcode::kParameter &&
         hlo.opcode != Opcode::kOptimizationBarrier && hlo.opcode != Opcode::kAfterAll &&
         hlo.opcode != Opcode::kAddDependency && hlo.opcode != Opcode::kDomain;
}

}  // namespace shoal::internal
