// The root members of collective-broadcast and collective-reduce.
#pragma once

#include "core/ir/instruction.h"
#include "execute/collectives/contribution.h"

namespace shoal::internal {

// For each operand, the group position of the member that sends the data of a collective-broadcast, or receives that of
// a collective-reduce. It is read from the last operand if the root is dynamic, else 0.
class Roots {
 public:
  Roots(const Instruction& hlo, const Arrays& arrays);
  size_t operands() const { return roots_.size(); }
  size_t Of(size_t operand) const { return static_cast<size_t>(roots_[operand]); }
  // Total bytes of the operands whose root is at this position.
  int64_t BytesAt(int64_t position) const;
  Status Check(int64_t members) const;

 private:
  const Instruction& hlo_;
  std::vector<int64_t> roots_, bytes_;
};

}  // namespace shoal::internal
