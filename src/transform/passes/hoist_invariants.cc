// What a loop's rounds compute alike, from elements of the state that never change, is computed once before the loop.
#include <algorithm>
#include <unordered_set>

#include "core/ir/call_graph.h"
#include "core/ir/rewrite.h"
#include "core/ir/sizes.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/loop_state.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

double BytesOf(const Instruction& hlo) { return hlo.shape().IsArray() ? static_cast<double>(HostBytesOf(hlo.shape())) : 0; }

class Hoisting {
 public:
  Hoisting(Module& module, const LoopState& state) : module_(module), state_(state) {}

  bool Run() {
    FindInvariants();
    const std::vector<Instruction*> chosen = Choose();
    if (chosen.empty()) return false;
    std::vector<Instruction*> outside;
    for (Instruction* hlo : chosen) outside.push_back(Outside(*hlo));
    std::vector<size_t> all(state_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    Computation& caller = *state_.loop->parent;
    const std::vector<Instruction*> inside = RewriteLoopState(module_, state_, all, outside);
    Replacements replacements;
    for (size_t i = 0; i < chosen.size(); ++i) replacements[chosen[i]] = inside[i];
    Apply(replacements, module_, *state_.body);
    SortTopologically(*state_.body);
    SortTopologically(*state_.condition);
    SortTopologically(caller);
    return true;
  }

 private:
  // `given_`: elements of the state that never change. `invariant_`: those, constants, and what is computed from them.
  void FindInvariants() {
    for (Instruction* hlo : state_.body->instructions) {
      if (IsGetTupleElement(*hlo) && hlo->operands[0] == state_.body->parameters[0]) {
        if (state_.IsInvariant(ElementNumber(*hlo))) given_.insert(hlo);
        continue;
      }
      if (!hlo->shape().IsArray() || hlo->shape().has_dynamic() || !IsPureAndMovable(*hlo)) continue;
      if (!(*hlo)[kControlPredecessors].empty() || Info(hlo->opcode).op_class == OpClass::kControlFlow) continue;
      const bool all = std::all_of(hlo->operands.begin(), hlo->operands.end(), [&](const Instruction* operand) {
        return given_.contains(operand) || invariant_.contains(operand);
      });
      if (all) invariant_.insert(hlo);
    }
  }

  // What others than invariants use, and what pays: something is computed, or moved against the grain, and the result
  // is not much larger than what it is made of. What no element of the state reaches is kept by whoever runs the loop.
  std::vector<Instruction*> Choose() const {
    std::unordered_set<const Instruction*> used;
    for (const Instruction* hlo : state_.body->instructions)
      if (!invariant_.contains(hlo))
        for (const Instruction* operand : hlo->operands) used.insert(operand);
    std::vector<Instruction*> chosen;
    for (Instruction* hlo : state_.body->instructions) {
      if (!invariant_.contains(hlo) || !used.contains(hlo) || IsConstant(*hlo)) continue;
      if (IsWorthIt(*hlo)) chosen.push_back(hlo);
    }
    return chosen;
  }

  bool IsWorthIt(const Instruction& hlo) const {
    const OpClass op_class = Info(hlo.opcode).op_class;
    if (op_class == OpClass::kIndexMap && !IsTranspose(hlo)) return false;
    if (hlo.shape().IsScalar() && op_class == OpClass::kElementwise && !IsExpensive(hlo.opcode)) return false;
    double bytes = 0;
    std::unordered_set<const Instruction*> seen{&hlo};
    std::vector<const Instruction*> todo{&hlo};
    while (!todo.empty()) {
      const Instruction* at = todo.back();
      todo.pop_back();
      if (given_.contains(at)) bytes += BytesOf(*at);
      if (!invariant_.contains(at)) continue;
      for (const Instruction* operand : at->operands)
        if (seen.insert(operand).second) todo.push_back(operand);
    }
    if (bytes > 0) return BytesOf(hlo) <= 2 * bytes;
    // A constant that takes much to compute and little to keep: without it the rounds may be one piece of code.
    double read = 0;
    for (const Instruction* operand : hlo.operands) read += BytesOf(*operand);
    return op_class == OpClass::kReduction && BytesOf(hlo) * 16 <= read;
  }

  // The value before the loop.
  Instruction* Outside(const Instruction& hlo) {
    if (auto known = outside_.find(&hlo); known != outside_.end()) return known->second;
    Instruction* made = nullptr;
    if (given_.contains(&hlo)) {
      made = state_.first[ElementNumber(hlo)];
    } else {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo.operands) operands.push_back(Outside(*operand));
      made = CopyInstruction(module_, *state_.loop->parent, hlo, operands);
    }
    return outside_[&hlo] = made;
  }

  Module& module_;
  const LoopState& state_;
  std::unordered_set<const Instruction*> given_, invariant_;
  std::unordered_map<const Instruction*, Instruction*> outside_;
};

}  // namespace

Result<bool> HoistInvariants(Module& module, const PassContext&) {
  bool any = false;
  const CallCounts calls = CountCalls(module);
  for (Computation* computation : CalleesFirst(module)) {  // inner loops first: what they give off may go further
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (std::optional<LoopState> state = LoopStateOf(*hlo, calls, module)) any |= Hoisting(module, *state).Run();
  }
  return any;
}

}  // namespace shoal::internal
