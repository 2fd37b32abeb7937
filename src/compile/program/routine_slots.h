// The slots of a routine while it is made: which statements read and write them, and which of them can be one.
#pragma once

#include "compile/program/routine.h"

namespace shoal::internal {

class RoutineSlots {
 public:
  using Slots = std::vector<int>;
  explicit RoutineSlots(Routine& routine) : routine_(routine) {}

  int New(ElementType type, int64_t count);
  void Copy(size_t block, int from, int to);  // a statement, unless they are one
  // state = next, all at once, at the end of the block; in place where that can be. Slots before `first_own` belong to
  // blocks around this one.
  void Assign(size_t block, Slots next, const Slots& state, int first_own);
  // A copy of what nobody asks for again is that very value. `wanted` are asked for after the block.
  void DropCopies(size_t block, const Slots& wanted, int first_own);
  bool IsWritten(int slot) const;
  size_t copies() const { return copies_; }  // that were ever made

 private:
  using Kind = RoutineStatement::Kind;

  int64_t InputsOf(const RoutineStatement& statement) const;
  bool IsReadIn(const RoutineStatement& statement, int slot) const;
  bool IsWrittenIn(const RoutineStatement& statement, int slot) const;
  bool IsUsedIn(size_t block, int slot) const;
  bool TakesPlaceOf(size_t block, const Slots& next, int slot, const Slots& state, size_t i, int first_own) const;
  bool ReadsWhereItWrites(const RoutineStatement& statement, int read, int written) const;
  void Rename(size_t block, int from, int to);

  Routine& routine_;
  size_t copies_ = 0;
};

}  // namespace shoal::internal
