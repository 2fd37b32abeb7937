// The roots of collectives that have some.
#pragma once

#include "core/ir/instruction.h"
#include "execute/collectives/contribution.h"

namespace shoal::internal {

// Who has the data of a collective-broadcast, or gets those of a collective-reduce: for each operand the position of a
// member, 0 unless the last operand says otherwise.
class Roots {
 public:
  Roots(const Instruction& hlo, const Arrays& arrays);
  size_t operands() const { return roots_.size(); }
  size_t Of(size_t operand) const { return static_cast<size_t>(roots_[operand]); }
  // Of the operands whose root is there.
  int64_t BytesAt(int64_t position) const;
  Status Check(int64_t members) const;

 private:
  const Instruction& hlo_;
  std::vector<int64_t> roots_, bytes_;
};

}  // namespace shoal::internal
