// Hoists loop-invariant code: instructions that depend only on invariant elements of the state move before the loop.
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

class InvariantHoister {
 public:
  InvariantHoister(Module& module, const LoopState& state) : module_(module), state_(state) {}

  bool Run() {
    FindInvariants();
    const std::vector<Instruction*> chosen = Choose();
    if (chosen.empty()) return false;
    std::vector<Instruction*> outside;
    for (Instruction* hlo : chosen) outside.push_back(ValueBeforeLoop(*hlo));
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
  // `invariant_elements_`: loop-invariant elements of the state. `invariant_`: instructions that depend only on these.
  void FindInvariants() {
    for (Instruction* hlo : state_.body->instructions) {
      if (IsGetTupleElement(*hlo) && hlo->operands[0] == state_.body->parameters[0]) {
        if (state_.IsInvariant(ElementNumber(*hlo))) invariant_elements_.insert(hlo);
        continue;
      }
      if (!hlo->shape().IsArray() || hlo->shape().has_dynamic() || !IsPureAndMovable(*hlo)) continue;
      if (!(*hlo)[kControlPredecessors].empty() || Info(hlo->opcode).op_class == OpClass::kControlFlow) continue;
      const bool all = std::all_of(hlo->operands.begin(), hlo->operands.end(), [&](const Instruction* operand) {
        return invariant_elements_.contains(operand) || invariant_.contains(operand);
      });
      if (all) invariant_.insert(hlo);
    }
  }

  // Chooses invariant instructions that variant instructions use, if hoisting is profitable: they compute or transpose,
  // and the result is not much larger than the inputs. The engine itself caches values that do not depend on the state.
  std::vector<Instruction*> Choose() const {
    std::unordered_set<const Instruction*> used;
    for (const Instruction* hlo : state_.body->instructions)
      if (!invariant_.contains(hlo))
        for (const Instruction* operand : hlo->operands) used.insert(operand);
    std::vector<Instruction*> chosen;
    for (Instruction* hlo : state_.body->instructions) {
      if (!invariant_.contains(hlo) || !used.contains(hlo) || IsConstant(*hlo)) continue;
      if (IsProfitable(*hlo)) chosen.push_back(hlo);
    }
    return chosen;
  }

  bool IsProfitable(const Instruction& hlo) const {
    const OpClass op_class = Info(hlo.opcode).op_class;
    if (op_class == OpClass::kIndexMap && !IsTranspose(hlo)) return false;
    if (hlo.shape().IsScalar() && op_class == OpClass::kElementwise && !IsExpensive(hlo.opcode)) return false;
    double bytes = 0;
    std::unordered_set<const Instruction*> seen{&hlo};
    std::vector<const Instruction*> worklist{&hlo};
    while (!worklist.empty()) {
      const Instruction* at = worklist.back();
      worklist.pop_back();
      if (invariant_elements_.contains(at)) bytes += BytesOf(*at);
      if (!invariant_.contains(at)) continue;
      for (const Instruction* operand : at->operands)
        if (seen.insert(operand).second) worklist.push_back(operand);
    }
    if (bytes > 0) return BytesOf(hlo) <= 2 * bytes;
    // Also hoist a reduction of constants with a small result. The loop body can then be compiled as one routine.
    double read = 0;
    for (const Instruction* operand : hlo.operands) read += BytesOf(*operand);
    return op_class == OpClass::kReduction && BytesOf(hlo) * 16 <= read;
  }

  // Returns the value of `hlo`, computed before the loop.
  Instruction* ValueBeforeLoop(const Instruction& hlo) {
    if (auto known = values_before_loop_.find(&hlo); known != values_before_loop_.end()) return known->second;
    Instruction* value = nullptr;
    if (invariant_elements_.contains(&hlo)) {
      value = state_.first[ElementNumber(hlo)];
    } else {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo.operands) operands.push_back(ValueBeforeLoop(*operand));
      value = CopyInstruction(module_, *state_.loop->parent, hlo, operands);
    }
    return values_before_loop_[&hlo] = value;
  }

  Module& module_;
  const LoopState& state_;
  std::unordered_set<const Instruction*> invariant_elements_, invariant_;
  std::unordered_map<const Instruction*, Instruction*> values_before_loop_;
};

}  // namespace

Result<bool> HoistInvariants(Module& module, const PassContext&) {
  bool any = false;
  const CallCounts calls = CountCalls(module);
  for (Computation* computation : CalleesFirst(module)) {  // inner loops first: code may leave several loops
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (std::optional<LoopState> state = LoopStateOf(*hlo, calls, module)) any |= InvariantHoister(module, *state).Run();
  }
  return any;
}

}  // namespace shoal::internal
