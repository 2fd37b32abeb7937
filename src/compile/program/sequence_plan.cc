#include "compile/program/sequence_plan.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/memory/heap.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

using Kind = RoutineStatement::Kind;
using StepKind = SequenceStep::Kind;

constexpr int64_t kAlignment = 64;

class SequencePlanner {
 public:
  explicit SequencePlanner(const Routine& sequence) : sequence_(sequence), lives_(sequence.slots.size()) {}

  SequencePlan Run(bool shares_memory) {
    if (sequence_.loop == nullptr) {
      AddBlock(sequence_.body);
    } else {
      RoutineStatement loop;
      loop.hlo = sequence_.loop;
      loop.slots = {sequence_.predicate};
      for (size_t i = 0; i < sequence_.state_slots; ++i) loop.slots.push_back(static_cast<int>(i));
      loop.blocks = {sequence_.condition, sequence_.body};
      AddLoop(loop);
      lives_[static_cast<size_t>(sequence_.predicate)] = {0, Now()};
    }
    AssignMemory(shares_memory);
    return std::move(plan_);
  }

 private:
  // The steps from the first to the last use of a slot.
  struct Life {
    int64_t first = 0, last = 0;
  };
  // The uses of a slot by the statements of a block, where a statement uses what its nested blocks use.
  struct BlockUse {
    Life life;
    bool is_nested = false;  // a single block that is nested in the block contains all uses
  };
  using BlockUses = std::unordered_map<int, BlockUse>;

  int64_t Now() const { return static_cast<int64_t>(plan_.steps.size()); }

  void AddStep(StepKind kind, size_t number, std::span<const int> slots) {
    plan_.steps.push_back({kind, number, 0, plan_.operands.size()});
    plan_.operands.insert(plan_.operands.end(), slots.begin(), slots.end());
  }

  // Adds the steps of a block. Sets the lives of its slots: the innermost block that contains all uses of a slot writes
  // it before it reads it, so that the slot is live from its first to its last statement there.
  BlockUses AddBlock(size_t block) {
    BlockUses uses;
    for (const RoutineStatement& statement : sequence_.blocks[block]) {
      const int64_t first = Now();
      const BlockUses nested = AddStatement(statement);
      const Life life{first, std::max(first, Now() - 1)};
      auto add = [&](int slot, bool is_nested) {
        const auto [found, is_new] = uses.try_emplace(slot, BlockUse{life, is_nested});
        found->second.life.last = life.last;
        found->second.is_nested &= is_nested && is_new;
      };
      for (int slot : statement.slots) add(slot, false);
      for (const auto& [slot, use] : nested) add(slot, use.is_nested);
    }
    for (const auto& [slot, use] : uses)
      if (!use.is_nested) lives_[static_cast<size_t>(slot)] = use.life;
    return uses;
  }

  // Returns the uses by nested blocks.
  BlockUses AddStatement(const RoutineStatement& statement) {
    switch (statement.kind) {
      case Kind::kKernel: AddStep(StepKind::kKernel, statement.kernel, statement.slots); return {};
      case Kind::kCopy: AddStep(StepKind::kCopy, 0, statement.slots); return {};
      case Kind::kEvaluate: AddStep(StepKind::kEvaluate, statement.kernel, statement.slots); return {};
      case Kind::kRoutine: AddStep(StepKind::kRoutine, statement.kernel, statement.slots); return {};
      case Kind::kWhile: return AddLoop(statement);
      case Kind::kBranch: return AddBranch(statement);
    }
    return {};
  }

  static void AddNested(BlockUses& all, const BlockUses& of_block) {
    for (const auto& [slot, use] : of_block) {
      const auto [found, is_new] = all.try_emplace(slot, BlockUse{{}, true});
      found->second.is_nested &= is_new;
    }
  }

  BlockUses AddLoop(const RoutineStatement& statement) {
    BlockUses uses;
    const size_t number = plan_.loops.size();
    plan_.loops.push_back({statement.hlo, statement.counter, 0, 0, {statement.slots.begin() + 1, statement.slots.end()}});
    AddStep(StepKind::kEnter, number, {});
    plan_.loops[number].head = plan_.steps.size();
    AddNested(uses, AddBlock(statement.blocks[0]));
    AddStep(StepKind::kTest, number, {statement.slots.data(), 1});
    AddNested(uses, AddBlock(statement.blocks[1]));
    AddStep(StepKind::kRepeat, number, {});
    plan_.loops[number].end = plan_.steps.size();
    return uses;
  }

  BlockUses AddBranch(const RoutineStatement& statement) {
    BlockUses uses;
    const size_t number = plan_.branches.size();
    const bool is_predicate = sequence_.slots[static_cast<size_t>(statement.slots[0])].type == ElementType::kPred;
    plan_.branches.push_back({statement.hlo, statement.counter, is_predicate, {}});
    AddStep(StepKind::kBranch, number, statement.slots);
    std::vector<size_t> jumps;
    for (size_t block : statement.blocks) {
      plan_.branches[number].targets.push_back(plan_.steps.size());
      AddNested(uses, AddBlock(block));
      jumps.push_back(plan_.steps.size());
      AddStep(StepKind::kJump, 0, {});
    }
    for (size_t jump : jumps) plan_.steps[jump].target = plan_.steps.size();
    return uses;
  }

  void AssignMemory(bool shares_memory) {
    std::vector<bool> has_memory(sequence_.slots.size(), false);
    for (int slot : plan_.operands)
      if (static_cast<size_t>(slot) >= sequence_.state_slots && sequence_.slots[static_cast<size_t>(slot)].constant == nullptr)
        has_memory[static_cast<size_t>(slot)] = true;
    std::vector<HeapBlock> blocks;
    for (size_t i = 0; i < has_memory.size(); ++i) {
      if (!has_memory[i]) continue;
      const Life life = shares_memory ? lives_[i] : Life{0, Now()};
      blocks.push_back({RoundUp(BytesOf(sequence_.slots[i]), kAlignment), {{life.first, life.last}}});
    }
    const HeapPacking heap = PackHeap(blocks, kAlignment);
    plan_.bytes = heap.bytes;
    plan_.offsets.assign(has_memory.size(), -1);
    size_t next = 0;
    for (size_t i = 0; i < has_memory.size(); ++i)
      if (has_memory[i]) plan_.offsets[i] = heap.offsets[next++];
  }

  const Routine& sequence_;
  SequencePlan plan_;
  std::vector<Life> lives_;  // of each slot
};

}  // namespace

SequencePlan PlanSequence(const Routine& sequence, bool shares_memory) {
  return SequencePlanner(sequence).Run(shares_memory);
}

}  // namespace shoal::internal
