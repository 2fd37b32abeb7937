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

// In a fusion, dots of narrow floats sum in f32 and round once. Inserts converts, so that inlining preserves this.
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

// True if no step of a reduction rounds to fewer than 32 bits.
bool HasWideSteps(const Instruction& hlo) {
  auto is_wide = [](const Instruction* step) {
    const Shape& shape = step->shape();
    return shape.IsTuple() || (shape.IsArray() && !(IsFloat(shape.element_type()) && BitWidth(shape.element_type()) < 32));
  };
  const auto callees = CalledComputations(hlo);
  return std::all_of(callees.begin(), callees.end(), [&](const Computation* function) {
    return std::all_of(function->instructions.begin(), function->instructions.end(), is_wide);
  });
}

// False for ops that the interpreter, like XLA:CPU, evaluates differently inside a fusion: reductions that round at
// each step or fold from an initial value that is not neutral, and narrow dots. Also false for collectives and custom
// calls, whose meaning the fusion defines. The caller's operands show the values of the parameters.
bool IsUnaffectedByInlining(const Instruction& hlo, const Instruction& fusion) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (IsReduce(hlo) && hlo.operand_count() == 2) {
    const Instruction& init = *hlo.operands[1];
    return IsLoopReduction(hlo, IsParameter(init) ? *fusion.operands[static_cast<size_t>(init[kParameterNumber])] : init);
  }
  if (op_class == OpClass::kReduction) return IsLoopReduction(hlo) || IsSort(hlo) || HasWideSteps(hlo);
  if (op_class == OpClass::kContraction) return BitWidth(hlo.shape().element_type()) >= 32 || IsNarrowDot(hlo);
  return op_class == OpClass::kElementwise || op_class == OpClass::kIndexMap || op_class == OpClass::kGatherScatter ||
         op_class == OpClass::kStructure;
}

bool IsInlined(const Instruction& hlo) {
  if (!hlo[kControlPredecessors].empty() || CallKindOf(hlo) != CallKind::kOnce) return false;
  if (IsFusion(hlo)) {
    const auto& fused = hlo[kCalls]->instructions;
    return hlo[kCalls]->parameters.size() == hlo.operand_count() &&
           std::all_of(fused.begin(), fused.end(), [&](const Instruction* op) { return IsUnaffectedByInlining(*op, hlo); });
  }
  if (!IsCall(hlo)) return false;
  // Keep calls of computations with an unknown custom call: it may mark the computation as a region.
  const auto& fused = hlo[kToApply]->instructions;
  return std::all_of(fused.begin(), fused.end(), [](const Instruction* op) {
    const OpClass op_class = Info(op->opcode).op_class;
    if (op_class == OpClass::kOpaque) return IsKnownPureCall(*op);
    return op_class != OpClass::kCollective && op_class != OpClass::kTransfer;
  });
}

// True for fusions and calls of any ops. A fusion with control predecessors is kept, because it is part of a schedule.
bool IsFusionOrCall(const Instruction& hlo) {
  return CallKindOf(hlo) == CallKind::kOnce && (IsFusion(hlo) || IsCall(hlo)) && hlo[kControlPredecessors].empty();
}

// Inlines calls and fusions in one computation. Returns true if there were any.
bool InlineInto(Computation& computation, bool (*is_inlined)(const Instruction&), bool widens_dots, Module& module, int64_t& budget) {
  Replacements replacements;
  const std::vector<Instruction*> before = computation.instructions;
  for (Instruction* hlo : before) {
    if (!is_inlined(*hlo)) continue;
    Computation* callee = IsFusion(*hlo) ? (*hlo)[kCalls] : (*hlo)[kToApply];
    if (callee->parameters.size() != hlo->operand_count() || std::ssize(callee->instructions) > budget) continue;
    budget -= std::ssize(callee->instructions);
    if (widens_dots && IsFusion(*hlo)) WidenDots(*callee, module);
    replacements[hlo] = Inline(*callee, hlo->operands, module, computation);
  }
  if (replacements.empty()) return false;
  Apply(replacements, module, computation);
  std::erase_if(computation.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
  SortTopologically(computation);
  return true;
}


Result<bool> InlineIf(bool (*is_inlined)(const Instruction&), bool widens_dots, Module& module) {
  bool any = false;
  // Nested calls can expand to more instructions than fit in memory. Real modules stay far below this budget.
  int64_t budget = 100'000;
  for (const Computation* computation : module.computations) budget += 2 * std::ssize(computation->instructions);
  const auto wrapped = WrappedComputations(module);
  for (Computation* computation : CalleesFirst(module)) {  // callees first, so that they are already fully inlined
    if (wrapped.contains(computation)) continue;
    // An inlined call may contain a fusion that can be inlined only here, where the operands are known.
    while (InlineInto(*computation, is_inlined, widens_dots, module, budget)) any = true;
  }
  if (any) RemoveUncalled(module);
  return any;
}

}  // namespace

Result<bool> InlineCalls(Module& module, const PassContext&) { return InlineIf(IsInlined, true, module); }

Result<bool> InlineFusions(Module& module, const PassContext&) { return InlineIf(IsFusionOrCall, false, module); }

}  // namespace shoal::internal
