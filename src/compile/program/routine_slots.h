// The slots of a routine under construction: tracks which statements read and write them, and merges slots.
#pragma once

#include "compile/program/routine.h"

namespace shoal::internal {

class RoutineSlots {
 public:
  using Slots = std::vector<int>;
  explicit RoutineSlots(Routine& routine) : routine_(routine) {}

  int New(ElementType type, int64_t count);
  void Copy(size_t block, int from, int to);  // adds a copy statement, unless the slots are identical
  // Assigns `next` to `state` simultaneously at the end of the block, without copies where possible. Slots before
  // `first_own` belong to enclosing blocks.
  void Assign(size_t block, Slots next, const Slots& state, int first_own);
  // Removes copies whose source is not used afterwards, by merging the slots. `live_out`: slots used after the block.
  void DropCopies(size_t block, const Slots& live_out, int first_own);
  bool IsWritten(int slot) const;
  size_t copies() const { return copies_; }  // including removed ones

 private:
  using Kind = RoutineStatement::Kind;

  int64_t InputsOf(const RoutineStatement& statement) const;
  bool IsReadIn(const RoutineStatement& statement, int slot) const;
  bool IsWrittenIn(const RoutineStatement& statement, int slot) const;
  bool IsUsedIn(size_t block, int slot) const;
  bool CanReplaceState(size_t block, const Slots& next, int slot, const Slots& state, size_t i, int first_own) const;
  bool ReadsWrittenElementOnly(const RoutineStatement& statement, int read, int written) const;
  void Rename(size_t block, int from, int to);

  Routine& routine_;
  size_t copies_ = 0;
};

}  // namespace shoal::internal
