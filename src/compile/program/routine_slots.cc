#include "compile/program/routine_slots.h"

#include <algorithm>

namespace shoal::internal {

using Kind = RoutineStatement::Kind;

int64_t BytesOf(const RoutineSlot& slot) { return slot.count * StorageBytes(slot.type); }

int64_t OwnBytes(const Routine& routine) {
  std::vector<bool> used(routine.slots.size(), false);
  for (const auto& block : routine.blocks)
    for (const RoutineStatement& statement : block)
      for (int slot : statement.slots) used[static_cast<size_t>(slot)] = true;
  int64_t bytes = 0;
  for (size_t i = routine.state_slots; i < routine.slots.size(); ++i)
    if (used[i] && routine.slots[i].constant == nullptr) bytes += BytesOf(routine.slots[i]);
  return bytes;
}

int64_t WorkOf(const Routine& routine) {
  int64_t work = 0;
  auto count = [&](int slot) { return routine.slots[static_cast<size_t>(slot)].count; };
  for (const auto& block : routine.blocks) {
    for (const RoutineStatement& statement : block) {
      if (statement.kind == Kind::kCopy) work += count(statement.slots[0]) / 4;
      if (statement.kind == Kind::kEvaluate)
        for (int slot : statement.slots) work += count(slot);
      if (statement.kind == Kind::kKernel) work += WorkOf(routine.kernels[statement.kernel]);
    }
  }
  return work;
}

int64_t WorkOf(const FusedKernel& kernel) { return kernel.RowCount() * kernel.InnerIterations(); }

size_t InputCount(const Routine& routine, const RoutineStatement& statement) {
  switch (statement.kind) {
    case Kind::kCopy: return 1;
    case Kind::kKernel: return routine.kernels[statement.kernel].inputs.size();
    case Kind::kEvaluate: return routine.evaluated[statement.kernel]->operand_count();
    default: return statement.slots.size();
  }
}

std::vector<bool> WrittenSlots(const Routine& routine) {
  std::vector<bool> written(routine.slots.size(), false);
  for (const auto& block : routine.blocks) {
    for (const RoutineStatement& statement : block) {
      for (size_t i = InputCount(routine, statement); i < statement.slots.size(); ++i)
        written[static_cast<size_t>(statement.slots[i])] = true;
      if (statement.kind != Kind::kRoutine) continue;
      const std::vector<bool>& inner = routine.routines[statement.kernel]->written;
      for (size_t i = 0; i < inner.size(); ++i)
        if (inner[i]) written[static_cast<size_t>(statement.slots[i])] = true;
    }
  }
  return written;
}

int RoutineSlots::New(ElementType type, int64_t count) {
  routine_.slots.push_back({type, count, nullptr, nullptr});
  return static_cast<int>(routine_.slots.size()) - 1;
}

void RoutineSlots::Copy(size_t block, int from, int to) {
  if (from == to) return;
  RoutineStatement copy;
  copy.kind = Kind::kCopy;
  copy.slots = {from, to};
  routine_.blocks[block].push_back(std::move(copy));
  ++copies_;
}

RoutineSlots::Uses RoutineSlots::UsesIn(size_t block) const {
  Uses uses;
  auto add = [&](size_t statement, int slot, bool reads, bool writes) {
    std::vector<Use>& of = uses[slot];
    if (of.empty() || of.back().statement != statement) of.push_back({statement, false, false});
    of.back().reads |= reads;
    of.back().writes |= writes;
  };
  auto add_nested = [&](auto& self, size_t at, const RoutineStatement& statement) -> void {
    for (size_t inner : statement.blocks) {
      for (const RoutineStatement& nested : routine_.blocks[inner]) {
        for (int slot : nested.slots) add(at, slot, true, true);
        self(self, at, nested);
      }
    }
  };
  const auto& statements = routine_.blocks[block];
  for (size_t i = 0; i < statements.size(); ++i) {
    const RoutineStatement& statement = statements[i];
    const size_t inputs = InputCount(routine_, statement);
    for (size_t k = 0; k < statement.slots.size(); ++k)
      add(i, statement.slots[k], k < inputs, k >= inputs || statement.kind == Kind::kRoutine);
    add_nested(add_nested, i, statement);
  }
  return uses;
}

void RoutineSlots::DropCopies(size_t block, const Slots& live_out, int first_own) {
  Uses uses = UsesIn(block);
  for (bool any = true; any;) {
    any = false;
    for (size_t i = 0; i < routine_.blocks[block].size(); ++i) {
      const RoutineStatement& copy = routine_.blocks[block][i];
      if (copy.kind != Kind::kCopy || copy.slots[0] == copy.slots[1]) continue;
      const int from = copy.slots[0], to = copy.slots[1];
      if (from < first_own || static_cast<size_t>(from) < routine_.state_slots ||
          routine_.slots[static_cast<size_t>(from)].constant != nullptr ||
          std::find(live_out.begin(), live_out.end(), from) != live_out.end())
        continue;
      const bool is_used_later = uses[from].back().statement > i, is_used_before = uses[to].front().statement < i;
      if (is_used_later || is_used_before) continue;
      Rename(block, uses, from, to);
      any = true;
    }
  }
  EraseCopiesToSelf(block);
}

void RoutineSlots::Assign(size_t block, Slots next, const Slots& state, int first_own) {
  DropCopies(block, next, first_own);
  Uses uses = UsesIn(block);
  for (size_t i = 0; i < state.size(); ++i)
    if (next[i] != state[i] && CanReplaceState(block, uses, next, next[i], state, i, first_own)) {
      Rename(block, uses, next[i], state[i]);
      const int renamed = next[i];
      for (int& slot : next)
        if (slot == renamed) slot = state[i];
    }
  EraseCopiesToSelf(block);
  // If a next value is in another state slot, that slot could be overwritten before it is copied: save it first.
  for (size_t i = 0; i < state.size(); ++i) {
    if (next[i] == state[i]) continue;
    const bool is_overwritten = std::find(state.begin(), state.end(), next[i]) != state.end();
    if (!is_overwritten) continue;
    const RoutineSlot like = routine_.slots[static_cast<size_t>(next[i])];
    const int saved = New(like.type, like.count);
    Copy(block, next[i], saved);
    next[i] = saved;
  }
  for (size_t i = 0; i < state.size(); ++i) Copy(block, next[i], state[i]);
}

// True if `slot`, the next value of state i, can be merged with the state's slot. The statement that writes `slot` and
// later ones must not read the old state, except in a copy to `slot` or a kernel that reads only elements it writes.
bool RoutineSlots::CanReplaceState(size_t block, const Uses& uses, const Slots& next, int slot, const Slots& state, size_t i,
                                   int first_own) const {
  if (routine_.slots[static_cast<size_t>(slot)].constant != nullptr) return false;
  if (std::find(state.begin(), state.end(), slot) != state.end()) return false;
  if (std::find(next.begin(), next.end(), state[i]) != next.end()) return false;
  if (slot < first_own) return false;  // belongs to an enclosing loop
  const auto of_slot = uses.find(slot), of_state = uses.find(state[i]);
  if (of_slot == uses.end()) return false;
  const auto first = std::ranges::find_if(of_slot->second, [](const Use& use) { return use.writes; });
  if (first == of_slot->second.end()) return false;
  if (of_state == uses.end()) return true;
  return std::ranges::all_of(of_state->second, [&](const Use& use) {
    if (!use.reads || use.statement < first->statement) return true;
    if (use.statement > first->statement) return false;
    const RoutineStatement& statement = routine_.blocks[block][use.statement];
    if (statement.kind == Kind::kCopy) return statement.slots[1] == slot;
    return statement.kind == Kind::kKernel && ReadsWrittenElementOnly(statement, state[i], slot);
  });
}

bool RoutineSlots::ReadsWrittenElementOnly(const RoutineStatement& statement, int read, int written) const {
  const FusedKernel& kernel = routine_.kernels[statement.kernel];
  if (!kernel.reductions.empty()) return false;
  for (const KernelStore& store : kernel.stores) {
    if (statement.slots[kernel.inputs.size() + static_cast<size_t>(store.output)] != written) continue;
    for (const KernelNode& node : kernel.nodes)
      if (node.kind == KernelNode::Kind::kLoad && statement.slots[static_cast<size_t>(node.input)] == read &&
          (!(node.index == store.index) || StorageBytes(node.type) != StorageBytes(kernel.outputs[static_cast<size_t>(store.output)])))
        return false;
  }
  // If all stores have equal indices, every read at an index comes before any write at that index.
  return std::all_of(kernel.stores.begin(), kernel.stores.end(),
                     [&](const KernelStore& store) { return store.index == kernel.stores[0].index; });
}

// Renames a slot in the statements of the block. A copy to itself stays until EraseCopiesToSelf.
void RoutineSlots::Rename(size_t block, Uses& uses, int from, int to) {
  const std::vector<Use> renamed = std::move(uses[from]);
  uses.erase(from);
  std::vector<Use> merged, before = std::move(uses[to]);
  for (const Use& use : renamed) RenameIn(routine_.blocks[block][use.statement], from, to);
  std::ranges::merge(before, renamed, std::back_inserter(merged), {}, &Use::statement, &Use::statement);
  uses[to] = std::move(merged);
}

void RoutineSlots::RenameIn(RoutineStatement& statement, int from, int to) {
  std::ranges::replace(statement.slots, from, to);
  for (size_t inner : statement.blocks) {
    for (RoutineStatement& nested : routine_.blocks[inner]) RenameIn(nested, from, to);
    EraseCopiesToSelf(inner);
  }
}

void RoutineSlots::EraseCopiesToSelf(size_t block) {
  std::erase_if(routine_.blocks[block], [](const RoutineStatement& statement) {
    return statement.kind == Kind::kCopy && statement.slots[0] == statement.slots[1];
  });
}

}  // namespace shoal::internal
