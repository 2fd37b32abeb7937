// Keeps ops with large operands and small results from moving past a loop or a collective. Loops and collectives take
// long, and all devices wait at a collective, so the operands would stay live for a long time.
#pragma once

#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

class LiveRangeGuard {
 public:
  explicit LiveRangeGuard(const Computation& computation);

  // True if moving `hlo` to the position of `later` would keep large operands live across a loop or a collective.
  bool ExtendsLiveRanges(const Instruction& hlo, const Instruction& later) const;

 private:
  std::vector<uint32_t> blocking_ops_before_;  // number of loops and collectives before each instruction
};

}  // namespace shoal::internal
