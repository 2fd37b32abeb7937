#include "ir/module.h"

#include "absl/container/flat_hash_set.h"
#include "ir/common_attrs.h"

namespace shoal {

Computation* Module::NewComputation(std::string_view computation_name) {
  Computation* computation = arena.New<Computation>();
  computation->name = computation_name;
  return computation;
}

Instruction* Module::NewInstruction(Computation& computation) {
  Instruction* hlo = arena.New<Instruction>();
  Append(*hlo, computation);
  return hlo;
}

void Append(Instruction& hlo, Computation& computation) {
  hlo.parent = &computation;
  hlo.index = static_cast<uint32_t>(computation.instructions.size());
  computation.instructions.push_back(&hlo);
}

std::vector<Computation*> CalledComputations(const Instruction& hlo) {
  std::vector<Computation*> called;
  for (const NamedAttr& attr : hlo.attrs) {
    if (auto* one = std::get_if<Computation*>(&attr.value)) called.push_back(*one);
    if (auto* some = std::get_if<Computations>(&attr.value)) called.insert(called.end(), some->begin(), some->end());
  }
  return called;
}

bool CallsComputations(const Instruction& hlo) {
  for (const NamedAttr& attr : hlo.attrs)
    if (std::holds_alternative<Computation*>(attr.value) || std::holds_alternative<Computations>(attr.value))
      return true;
  return false;
}

std::vector<Instruction*> PostOrder(const Computation& computation) {
  const auto& all = computation.instructions;
  std::vector<bool> has_user(all.size(), false);
  for (const Instruction* hlo : all)
    for (const Instruction* operand : hlo->operands) has_user[operand->index] = true;

  enum State : uint8_t { kNew, kVisiting, kVisited };
  std::vector<uint8_t> state(all.size(), kNew);
  std::vector<Instruction*> order, stack;
  order.reserve(all.size());
  auto push = [&](Instruction* hlo) {
    if (state[hlo->index] != kVisited) stack.push_back(hlo);
  };
  for (Instruction* start : all) {
    if (has_user[start->index]) continue;
    push(start);
    while (!stack.empty()) {
      Instruction* hlo = stack.back();
      if (state[hlo->index] != kNew) {
        stack.pop_back();
        if (state[hlo->index] != kVisited) order.push_back(hlo);
        state[hlo->index] = kVisited;
        continue;
      }
      state[hlo->index] = kVisiting;
      // Pushed in reverse, so that the first operand comes out first.
      for (size_t i = hlo->operands.size(); i-- > 0;) push(hlo->operands[i]);
      for (Instruction* before : (*hlo)[kControlPredecessors]) push(before);
    }
  }
  return order;
}

namespace {

// Appends what `root` calls, directly or not, callees first, then `root` itself.
class ComputationWalk {
 public:
  std::vector<Computation*> order;

  void Visit(Computation* root) {
    absl::flat_hash_set<Computation*> seen;
    struct Frame {
      Computation* computation;
      size_t next = 0;
    };
    std::vector<Frame> stack;
    auto push_called = [&](const Instruction& hlo) {
      std::vector<Computation*> called = CalledComputations(hlo);
      for (size_t i = called.size(); i-- > 0;)
        if (called[i]->defined && seen.insert(called[i]).second) stack.push_back({called[i]});
    };
    // A loop over the root's instructions, each followed to its end before the next.
    for (const Instruction* hlo : root->instructions) {
      if (!CallsComputations(*hlo)) continue;
      push_called(*hlo);
      while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next == top.computation->instructions.size()) {
          Add(top.computation);
          stack.pop_back();
          continue;
        }
        const Instruction& next = *top.computation->instructions[top.next++];
        if (CallsComputations(next)) push_called(next);
      }
    }
    Add(root);
  }

 private:
  void Add(Computation* computation) {
    if (added_.insert(computation).second) order.push_back(computation);
  }
  absl::flat_hash_set<Computation*> added_;
};

}  // namespace

std::vector<Computation*> PostOrder(const Module& module) {
  absl::flat_hash_set<Computation*> called;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      for (Computation* callee : CalledComputations(*hlo)) called.insert(callee);
  ComputationWalk walk;
  walk.order.reserve(module.computations.size());
  for (Computation* computation : module.computations)
    if (!called.contains(computation)) walk.Visit(computation);
  return std::move(walk.order);
}

}  // namespace shoal
