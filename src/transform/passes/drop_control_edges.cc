// Drops control edges that do not affect any value. XLA:CPU adds edges between copies and the ops that read or write
// the copied buffers. Here, values do not share memory that another op may overwrite, so only the order of ops with
// effects matters.
#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "core/ir/rewrite.h"
#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool HasOrder(const Instruction& hlo) {
  if (IsParameter(hlo) || IsKnownPureCall(hlo) || Info(hlo.opcode).op_class == OpClass::kStructure) return false;
  return !IsPureAndMovable(hlo);
}

// The ops with effects that must run before `hlo`, found through its operands and control predecessors. No value if
// there are too many ops to search.
std::optional<std::vector<Instruction*>> OrderedBefore(const Instruction& hlo, const std::vector<bool>& ordered, int64_t& budget) {
  std::vector<Instruction*> found;
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<Instruction*> open(hlo[kControlPredecessors].begin(), hlo[kControlPredecessors].end());
  while (!open.empty()) {
    Instruction* before = open.back();
    open.pop_back();
    if (!seen.insert(before).second) continue;
    if (--budget < 0) return std::nullopt;
    if (ordered[before->index]) {
      found.push_back(before);
      continue;
    }
    open.insert(open.end(), before->operands.begin(), before->operands.end());
    const Instructions control = (*before)[kControlPredecessors];
    open.insert(open.end(), control.begin(), control.end());
  }
  return found;
}

bool DropEdges(Computation& computation, Module& module) {
  std::vector<bool> ordered;
  bool has_edges = false;
  for (const Instruction* hlo : computation.instructions) has_edges |= !(*hlo)[kControlPredecessors].empty();
  if (!has_edges) return false;
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    computation.instructions[i]->index = static_cast<uint32_t>(i);
    ordered.push_back(HasOrder(*computation.instructions[i]));
  }
  int64_t budget = 1'000'000;
  std::vector<std::pair<Instruction*, std::vector<Instruction*>>> changes;
  for (Instruction* hlo : computation.instructions) {
    const Instructions before = (*hlo)[kControlPredecessors];
    if (before.empty()) continue;
    if (!ordered[hlo->index]) {
      changes.push_back({hlo, {}});
    } else if (std::any_of(before.begin(), before.end(), [&](const Instruction* one) { return !ordered[one->index]; })) {
      std::optional<std::vector<Instruction*>> kept = OrderedBefore(*hlo, ordered, budget);
      if (!kept) return false;
      changes.push_back({hlo, *std::move(kept)});
    }
  }
  for (auto& [hlo, before] : changes) {
    if (before.empty())
      DropAttr(*hlo, module, kControlPredecessors.id);
    else
      SetAttr(*hlo, module, kControlPredecessors, Instructions(module.arena.Copy(before)));
  }
  return !changes.empty();
}

}  // namespace

Result<bool> DropControlEdges(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) any |= DropEdges(*computation, module);
  return any;
}

}  // namespace shoal::internal
