// ragged-dot: one dot per group, each over a contiguous range of the ragged dimension.
#include <algorithm>

#include "core/ops/rules.h"
#include "execute/interp/evaluate.h"
#include "kernels/linalg/dot_general.h"

namespace shoal::internal {

template <>
Result<Value> Evaluate<Opcode::kRaggedDot>(Call& call) {
  const Instruction& hlo = call.hlo;
  const RaggedDims dims{{hlo[kLhsBatchDims], hlo[kRhsBatchDims], hlo[kLhsContractingDims], hlo[kRhsContractingDims]},
                        hlo[Op<Opcode::kRaggedDot>::kLhsRaggedDims][0],
                        hlo[Op<Opcode::kRaggedDot>::kRhsGroupDims]};
  const bool in_groups = !Contains(dims.product.lhs_batch, dims.lhs_ragged);
  for (size_t i = 0; in_groups && i < 3; ++i)
    if (!std::equal(call.array(i).dims().begin(), call.array(i).dims().end(), hlo.operand_shape(i).dims().begin()))
      return ExecutionError(hlo, StrCat("operands must have their declared sizes, got ", ToString(call.array(i))));
  return Value(RaggedDotGeneral(call.array(0), call.array(1), call.array(2), dims, hlo.shape().element_type()));
}

}  // namespace shoal::internal
