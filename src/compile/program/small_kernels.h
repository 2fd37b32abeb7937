// An instruction on small arrays as kernels that one thread runs one after the other.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/instruction.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

struct SmallKernel {
  static constexpr int kResult = -1;
  // Of the instruction: the kernel's inputs, kResult for what the kernels before left in its result; its outputs are the
  // results.
  std::vector<int> operands;
  std::optional<FusedKernel> kernel;  // none: a copy of the operand to the result
};

// Nothing where no kernels of ours do it.
std::optional<std::vector<SmallKernel>> SmallKernelsOf(const Instruction& hlo);
// Of a scatter of one operand: window by window, in their order.
std::optional<std::vector<SmallKernel>> ScatterKernels(const Instruction& hlo);

}  // namespace shoal::internal
