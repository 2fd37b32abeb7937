// The root members of collective-broadcast and collective-reduce.
#pragma once

#include "core/ir/instruction.h"
#include "execute/collectives/contribution.h"

namespace shoal::internal {

// For each operand, the group position of its root: the member that sends it in a collective-broadcast, or receives the
// result in a collective-reduce. A dynamic root is read from the last operand, otherwise the position is 0.
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
