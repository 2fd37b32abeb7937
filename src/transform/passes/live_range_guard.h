// Loops and collectives take long, and at a collective all devices wait with what they hold. An op that makes little of
// much is not moved behind one: all it reads would be held meanwhile.
#pragma once

#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

class LiveRangeGuard {
 public:
  explicit LiveRangeGuard(const Computation& computation);

  // Whether `hlo` at the place of `later` would hold much more than its result over a loop or a collective between them.
  bool ExtendsLiveRanges(const Instruction& hlo, const Instruction& later) const;

 private:
  std::vector<uint32_t> waits_;  // before each instruction
};

}  // namespace shoal::internal
