// An instruction on small arrays as kernels that one thread runs one after the other.
#pragma once

#include <optional>
#include <vector>

#include "ir/instruction.h"
#include "program/kernel.h"

namespace shoal {

struct SmallKernel {
  std::vector<int> operands;          // of the instruction: the kernel's inputs; its outputs are the results
  std::optional<FusedKernel> kernel;  // none: a copy of the operand to the result
};

// Nothing where no kernels of ours do it.
std::optional<std::vector<SmallKernel>> SmallKernelsOf(const Instruction& hlo);

}  // namespace shoal
