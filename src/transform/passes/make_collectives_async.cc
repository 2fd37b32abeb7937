#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

// Collectives with dedicated start and done ops. Others are wrapped in an async-start.
struct StartRow {
  Opcode sync, start, done;
  bool keeps_operand;  // the shape of the start is (operands, result); else only the result
};
constexpr StartRow kStarts[] = {
    {Opcode::kAllReduce, Opcode::kAllReduceStart, Opcode::kAllReduceDone, false},
    {Opcode::kAllGather, Opcode::kAllGatherStart, Opcode::kAllGatherDone, true},
    {Opcode::kCollectivePermute, Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone, true},
};
constexpr Opcode kWrapped[] = {Opcode::kReduceScatter, Opcode::kAllToAll, Opcode::kRaggedAllToAll, Opcode::kCollectiveBroadcast};

const Shape* OperandShape(const Instruction& hlo, ShapePool& shapes) {
  std::vector<const Shape*> parts;
  for (const Instruction* operand : hlo.operands) parts.push_back(operand->shape_);
  return parts.size() == 1 ? parts[0] : shapes.Tuple(parts);
}

Instruction* Done(Instruction* start, Opcode opcode, const Instruction& hlo, Module& module) {
  Instruction* of[] = {start};
  Instruction* done = NewInstruction(module, *hlo.parent, opcode, hlo.shape_, of, hlo);
  done->name = module.arena.CopyString(StrCat(hlo.name, ".done"));
  return done;
}

Instruction* SplitNative(const Instruction& hlo, const StartRow& row, Module& module) {
  Instruction* start = CopyInstruction(module, *hlo.parent, hlo, hlo.operands);
  start->opcode = row.start;
  start->name = module.arena.CopyString(StrCat(hlo.name, ".start"));
  if (row.keeps_operand) {
    const Shape* both[] = {OperandShape(hlo, module.shapes), hlo.shape_};
    start->shape_ = module.shapes.Tuple(both);
  }
  return Done(start, row.done, hlo, module);
}

// Creates an async-start of a computation that contains only the collective.
Instruction* SplitWrapped(const Instruction& hlo, Module& module) {
  Computation* wrapped = module.NewComputation(module.arena.CopyString(StrCat("async_", hlo.name)));
  wrapped->at = hlo.at;
  module.computations.push_back(wrapped);
  std::vector<const Shape*> operands;
  for (const Instruction* operand : hlo.operands) {
    NewParameter(module, *wrapped, operand->shape_, *operand);
    operands.push_back(operand->shape_);
  }
  wrapped->root = CopyInstruction(module, *wrapped, hlo, wrapped->parameters);
  const Shape* both[] = {module.shapes.Tuple(operands), hlo.shape_};
  Instruction* start = NewInstruction(module, *hlo.parent, Opcode::kAsyncStart, module.shapes.Tuple(both), hlo.operands, hlo);
  start->name = module.arena.CopyString(StrCat(hlo.name, ".start"));
  SetAttr(*start, module, kCalls, wrapped);
  Instruction* done = Done(start, Opcode::kAsyncDone, hlo, module);
  SetAttr(*done, module, kCalls, wrapped);
  return done;
}

// Splits a collective into a start and a done and returns the done; null if the collective has no async form.
Instruction* Split(const Instruction& hlo, Module& module) {
  for (const StartRow& row : kStarts)
    if (row.sync == hlo.opcode) return SplitNative(hlo, row, module);
  return std::find(std::begin(kWrapped), std::end(kWrapped), hlo.opcode) != std::end(kWrapped) ? SplitWrapped(hlo, module) : nullptr;
}

// True if the computation is already the body of a fusion or of an async-start.
bool IsEmbedded(const Computation& computation, const Module& module) {
  for (const Computation* other : module.computations)
    for (const Instruction* hlo : other->instructions) {
      if (hlo->opcode != Opcode::kFusion && hlo->opcode != Opcode::kAsyncStart) continue;
      if ((*hlo)[kCalls] == &computation) return true;
    }
  return false;
}

}  // namespace

Result<bool> MakeCollectivesAsync(Module& module, const PassContext&) {
  bool any = false;
  const std::vector<Computation*> computations = module.computations;
  for (Computation* computation : computations) {
    const std::vector<Instruction*> before = computation->instructions;
    const bool has_some = std::any_of(before.begin(), before.end(), [](const Instruction* hlo) {
      return Info(hlo->opcode).op_class == OpClass::kCollective;
    });
    if (!has_some || IsEmbedded(*computation, module)) continue;
    Replacements replacements;
    for (Instruction* hlo : before)
      if (Instruction* done = Split(*hlo, module)) replacements[hlo] = done;
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any;
}

}  // namespace shoal::internal
