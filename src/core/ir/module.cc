#include "core/ir/module.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/ir/common_attrs.h"

namespace shoal::internal {

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

void SetOrder(Computation& computation, std::vector<Instruction*> order) {
  if (order == computation.instructions) return;
  if (computation.as_written.empty()) computation.as_written = std::move(computation.instructions);
  computation.instructions = std::move(order);
  for (size_t i = 0; i < computation.instructions.size(); ++i)
    computation.instructions[i]->index = static_cast<uint32_t>(i);
}

std::span<Instruction* const> OrderAsWritten(const Computation& computation) {
  return computation.as_written.empty() ? computation.instructions : computation.as_written;
}

bool IsInOrder(const Computation& computation) {
  for (const Instruction* hlo : computation.instructions) {
    auto before = [hlo](const Instruction* other) { return other->index < hlo->index; };
    if (!std::all_of(hlo->operands.begin(), hlo->operands.end(), before)) return false;
    const Instructions control = (*hlo)[kControlPredecessors];
    if (!std::all_of(control.begin(), control.end(), before)) return false;
  }
  return true;
}

std::span<Instruction* const> PostOrderWalk::Of(const Computation& computation) {
  enum State : uint8_t { kVisiting = 1, kVisited = 2, kHasUser = 4 };
  const std::span<Instruction* const> all = OrderAsWritten(computation);
  states_.assign(all.size(), 0);
  for (const Instruction* hlo : all)
    for (const Instruction* operand : hlo->operands) states_[operand->index] = kHasUser;
  order_.clear();
  auto state = [&](const Instruction* hlo) -> uint8_t& { return states_[hlo->index]; };
  auto push = [&](Instruction* hlo) {
    if ((state(hlo) & kVisited) == 0) stack_.push_back(hlo);
  };
  for (Instruction* start : all) {
    if ((state(start) & kHasUser) != 0) continue;
    push(start);
    while (!stack_.empty()) {
      Instruction* hlo = stack_.back();
      uint8_t& now = state(hlo);
      if ((now & kVisiting) != 0) {
        stack_.pop_back();
        if ((now & kVisited) == 0) order_.push_back(hlo);
        now |= kVisited;
        continue;
      }
      now |= kVisiting;
      // Pushed in reverse order, so that the first operand is popped first.
      for (size_t i = hlo->operands.size(); i-- > 0;) push(hlo->operands[i]);
      for (Instruction* before : (*hlo)[kControlPredecessors]) push(before);
    }
  }
  return order_;
}

std::vector<Instruction*> PostOrder(const Computation& computation) {
  PostOrderWalk walk;
  const std::span<Instruction* const> order = walk.Of(computation);
  return {order.begin(), order.end()};
}

namespace {

// Appends the direct and indirect callees of `root`, callees first, then `root` itself.
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
    // Visits all callees of one instruction of the root before those of the next.
    for (const Instruction* hlo : OrderAsWritten(*root)) {
      if (!CallsComputations(*hlo)) continue;
      push_called(*hlo);
      while (!stack.empty()) {
        Frame& top = stack.back();
        const std::span<Instruction* const> all = OrderAsWritten(*top.computation);
        if (top.next == all.size()) {
          Add(top.computation);
          stack.pop_back();
          continue;
        }
        const Instruction& next = *all[top.next++];
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

}  // namespace shoal::internal
