// Lowers an instruction on small arrays to kernels that one thread runs one after the other.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/instruction.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

struct SmallKernel {
  static constexpr int kResult = -1;
  // The operands of the instruction that are the kernel's inputs. kResult: the result as the previous kernels left it.
  // The kernel's outputs are the results of the instruction.
  std::vector<int> operands;
  std::optional<FusedKernel> kernel;  // none: a copy of the operand to the result
};

// Returns nothing if the instruction cannot be lowered to kernels.
std::optional<std::vector<SmallKernel>> SmallKernelsOf(const Instruction& hlo);
// The kernels of a scatter of one operand, which apply the updates window by window in order.
std::optional<std::vector<SmallKernel>> ScatterKernels(const Instruction& hlo);

}  // namespace shoal::internal
