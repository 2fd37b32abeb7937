#include <algorithm>

#include "core/ir/call_graph.h"
#include "core/ir/rewrite.h"
#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool IsNarrowDot(const Instruction& hlo) {
  const ElementType type = hlo.shape().element_type();
  return hlo.opcode == Opcode::kDot && (type == ElementType::kBf16 || type == ElementType::kF16) && !hlo.shape().has_dynamic();
}

// Inside a fusion products of narrow floats are summed in f32 and rounded once: said so, they mean the same outside.
void WidenDots(Computation& computation, Module& module) {
  Replacements replacements;
  const std::vector<Instruction*> before = computation.instructions;
  for (Instruction* hlo : before) {
    if (!IsNarrowDot(*hlo)) continue;
    Instruction* sums = CopyInstruction(module, computation, *hlo, hlo->operands);
    sums->shape_ = module.shapes.WithType(hlo->shape(), ElementType::kF32);
    replacements[hlo] = NewInstruction(module, computation, Opcode::kConvert, hlo->shape_, std::vector{sums}, *hlo);
  }
  if (replacements.empty()) return;
  Apply(replacements, module, computation);
  std::erase_if(computation.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
  SortTopologically(computation);
}

// The interpreter computes some ops inside a fusion as XLA:CPU would have compiled them there: reductions that round at
// every step, and products of narrow floats. And what a fusion of collectives or custom calls means is the fusion's.
bool MeansTheSameOutside(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kReduction) return IsLoopReduction(hlo) || IsSort(hlo);
  if (op_class == OpClass::kContraction) return BitWidth(hlo.shape().element_type()) >= 32 || IsNarrowDot(hlo);
  return op_class == OpClass::kElementwise || op_class == OpClass::kIndexMap || op_class == OpClass::kGatherScatter ||
         op_class == OpClass::kStructure;
}

bool IsInlined(const Instruction& hlo) {
  if (!hlo[kControlPredecessors].empty() || CallKindOf(hlo) != CallKind::kOnce) return false;
  if (IsFusion(hlo)) {
    const auto& inside = hlo[kCalls]->instructions;
    return std::all_of(inside.begin(), inside.end(), [](const Instruction* op) { return MeansTheSameOutside(*op); });
  }
  if (!IsCall(hlo)) return false;
  // A call with a custom call in it may be the body of something that the custom call delimits.
  const auto& inside = hlo[kToApply]->instructions;
  return std::all_of(inside.begin(), inside.end(), [](const Instruction* op) {
    const OpClass op_class = Info(op->opcode).op_class;
    if (op_class == OpClass::kOpaque) return IsKnownPureCall(*op);
    return op_class != OpClass::kCollective && op_class != OpClass::kTransfer;
  });
}

}  // namespace

Result<bool> InlineCalls(Module& module, const PassContext&) {
  bool any = false;
  // Calls of calls can make more instructions than there is memory for; what real modules call is small.
  int64_t room = 100'000;
  for (const Computation* computation : module.computations) room += 2 * std::ssize(computation->instructions);
  const auto wrapped = WrappedComputations(module);
  for (Computation* computation : CalleesFirst(module)) {  // what is inlined has nothing left to inline
    if (wrapped.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before) {
      if (!IsInlined(*hlo)) continue;
      Computation* callee = IsFusion(*hlo) ? (*hlo)[kCalls] : (*hlo)[kToApply];
      if (callee->parameters.size() != hlo->operand_count() || std::ssize(callee->instructions) > room) continue;
      room -= std::ssize(callee->instructions);
      if (IsFusion(*hlo)) WidenDots(*callee, module);
      replacements[hlo] = Inline(*callee, hlo->operands, module, *computation);
    }
    if (replacements.empty()) continue;
    any = true;
    Apply(replacements, module, *computation);
    std::erase_if(computation->instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
    SortTopologically(*computation);
  }
  if (any) RemoveUncalled(module);
  return any;
}

}  // namespace shoal::internal
