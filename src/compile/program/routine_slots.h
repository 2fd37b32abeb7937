// The slots of a routine under construction: tracks which statements read and write them, and merges slots.
#pragma once

#include <unordered_map>

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
  size_t copies() const { return copies_; }  // including removed ones

 private:
  // A statement of a block that uses a slot. A loop or branch uses what its blocks use.
  struct Use {
    size_t statement;
    bool reads, writes;
  };
  // The uses of each slot by the statements of a block, in order.
  using Uses = std::unordered_map<int, std::vector<Use>>;

  Uses UsesIn(size_t block) const;
  bool CanReplaceState(size_t block, const Uses& uses, const Slots& next, int slot, const Slots& state, size_t i, int first_own) const;
  bool ReadsWrittenElementOnly(const RoutineStatement& statement, int read, int written) const;
  void Rename(size_t block, Uses& uses, int from, int to);
  void RenameIn(RoutineStatement& statement, int from, int to);
  void EraseCopiesToSelf(size_t block);

  Routine& routine_;
  size_t copies_ = 0;
};

// The slots that the statements of the routine write.
std::vector<bool> WrittenSlots(const Routine& routine);

}  // namespace shoal::internal
