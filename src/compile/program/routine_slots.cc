#include "compile/program/routine_slots.h"

#include <algorithm>
#include <set>

namespace shoal::internal {

int64_t OwnBytes(const Routine& routine) {
  std::set<int> used;
  for (const auto& block : routine.blocks)
    for (const RoutineStatement& statement : block) used.insert(statement.slots.begin(), statement.slots.end());
  int64_t bytes = 0;
  for (size_t i = routine.state_slots; i < routine.slots.size(); ++i) {
    const RoutineSlot& slot = routine.slots[i];
    if (slot.constant == nullptr && used.contains(static_cast<int>(i))) bytes += slot.count * StorageBytes(slot.type);
  }
  return bytes;
}

int64_t WorkOf(const Routine& routine) {
  int64_t work = 0;
  auto count = [&](int slot) { return routine.slots[static_cast<size_t>(slot)].count; };
  for (const auto& block : routine.blocks) {
    for (const RoutineStatement& statement : block) {
      if (statement.kind == RoutineStatement::Kind::kCopy) work += count(statement.slots[0]) / 4;
      if (statement.kind == RoutineStatement::Kind::kEvaluate)
        for (int slot : statement.slots) work += count(slot);
      if (statement.kind != RoutineStatement::Kind::kKernel) continue;
      const FusedKernel& kernel = routine.kernels[statement.kernel];
      work += kernel.RowCount() * kernel.InnerIterations();
    }
  }
  return work;
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

bool RoutineSlots::IsWritten(int slot) const {
  return std::any_of(routine_.blocks.begin(), routine_.blocks.end(), [&](const auto& block) {
    return std::any_of(block.begin(), block.end(), [&](const RoutineStatement& statement) {
      return statement.blocks.empty() && IsWrittenIn(statement, slot);
    });
  });
}

// Number of slots that a statement without blocks reads. The statement writes the others.
int64_t RoutineSlots::InputsOf(const RoutineStatement& statement) const {
  if (statement.kind == Kind::kCopy) return 1;
  if (statement.kind == Kind::kKernel) return std::ssize(routine_.kernels[statement.kernel].inputs);
  return static_cast<int64_t>(routine_.evaluated[statement.kernel]->operand_count());
}

bool RoutineSlots::IsReadIn(const RoutineStatement& statement, int slot) const {
  if (statement.blocks.empty()) {
    const auto end = statement.slots.begin() + InputsOf(statement);
    return std::find(statement.slots.begin(), end, slot) != end;
  }
  if (std::find(statement.slots.begin(), statement.slots.end(), slot) != statement.slots.end()) return true;
  return std::any_of(statement.blocks.begin(), statement.blocks.end(), [&](size_t block) { return IsUsedIn(block, slot); });
}

bool RoutineSlots::IsWrittenIn(const RoutineStatement& statement, int slot) const {
  if (statement.blocks.empty())
    return std::find(statement.slots.begin() + InputsOf(statement), statement.slots.end(), slot) != statement.slots.end();
  return std::any_of(statement.blocks.begin(), statement.blocks.end(), [&](size_t block) { return IsUsedIn(block, slot); });
}

bool RoutineSlots::IsUsedIn(size_t block, int slot) const {
  const auto& statements = routine_.blocks[block];
  return std::any_of(statements.begin(), statements.end(), [&](const RoutineStatement& statement) {
    return IsReadIn(statement, slot) || IsWrittenIn(statement, slot);
  });
}

void RoutineSlots::DropCopies(size_t block, const Slots& live_out, int first_own) {
  for (size_t i = 0; i < routine_.blocks[block].size(); ++i) {
    const RoutineStatement statement = routine_.blocks[block][i];
    if (statement.kind != Kind::kCopy) continue;
    const int from = statement.slots[0], to = statement.slots[1];
    if (from < first_own || static_cast<size_t>(from) < routine_.state_slots ||
        routine_.slots[static_cast<size_t>(from)].constant != nullptr ||
        std::find(live_out.begin(), live_out.end(), from) != live_out.end())
      continue;
    const auto& statements = routine_.blocks[block];
    bool is_used_later = false, is_written_before = false;
    for (size_t k = 0; k < statements.size(); ++k) {
      if (k > i) is_used_later |= IsReadIn(statements[k], from) || IsWrittenIn(statements[k], from);
      if (k < i) is_written_before |= IsReadIn(statements[k], to) || IsWrittenIn(statements[k], to);
    }
    if (is_used_later || is_written_before) continue;
    Rename(block, from, to);
    i = SIZE_MAX;  // restart
  }
}

void RoutineSlots::Assign(size_t block, Slots next, const Slots& state, int first_own) {
  DropCopies(block, next, first_own);
  for (size_t i = 0; i < state.size(); ++i)
    if (next[i] != state[i] && CanReplaceState(block, next, next[i], state, i, first_own)) {
      Rename(block, next[i], state[i]);
      const int renamed = next[i];
      for (int& slot : next)
        if (slot == renamed) slot = state[i];
    }
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
bool RoutineSlots::CanReplaceState(size_t block, const Slots& next, int slot, const Slots& state, size_t i, int first_own) const {
  if (routine_.slots[static_cast<size_t>(slot)].constant != nullptr) return false;
  if (std::find(state.begin(), state.end(), slot) != state.end()) return false;
  if (std::find(next.begin(), next.end(), state[i]) != next.end()) return false;
  if (slot < first_own) return false;  // belongs to an enclosing loop
  const auto& statements = routine_.blocks[block];
  bool is_written = false;
  for (const RoutineStatement& statement : statements) {
    const bool first = !is_written && IsWrittenIn(statement, slot);
    is_written |= first;
    if (!is_written || !IsReadIn(statement, state[i])) continue;
    if (statement.kind == Kind::kCopy && statement.slots[1] == slot && first) continue;
    if (statement.kind == Kind::kKernel && first && ReadsWrittenElementOnly(statement, state[i], slot)) continue;
    return false;
  }
  return is_written;
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

void RoutineSlots::Rename(size_t block, int from, int to) {
  auto& statements = routine_.blocks[block];
  for (RoutineStatement& statement : statements) {
    for (int& slot : statement.slots)
      if (slot == from) slot = to;
    for (size_t inner : statement.blocks) Rename(inner, from, to);
  }
  std::erase_if(statements, [](const RoutineStatement& statement) {
    return statement.kind == Kind::kCopy && statement.slots[0] == statement.slots[1];
  });
}

}  // namespace shoal::internal
