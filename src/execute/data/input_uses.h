// The uses of a module's inputs, for generating meaningful ones: a divisor must not be zero, an index must be in range.
#pragma once

#include <string>
#include <vector>

#include "core/ops/operand_domain.h"
#include "execute/data/leaves.h"

namespace shoal::internal {

struct InputUse {
  OperandDomain domain = OperandDomain::kAny;
  int64_t limit = 0;                 // for kIndex
  const Instruction* hlo = nullptr;  // the op that uses the input in this way
};

// The use of each leaf of the parameters: of several, the one that restricts the values most. Searches through calls,
// fusions, loops and branches.
std::vector<InputUse> InputUsesOf(const std::vector<Leaf>& leaves);

// One sentence for each kind of use: "positive numbers for parameter 1 (eps) and 3 more: …"
std::vector<std::string> InputUseNotes(const std::vector<Leaf>& leaves, const std::vector<InputUse>& uses);

}  // namespace shoal::internal
