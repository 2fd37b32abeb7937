#include "kernels/algorithms/topk.h"

#include "execute/interp/evaluate.h"

namespace shoal::internal {

template <>
Result<Value> Evaluate<Opcode::kTopK>(Call& call) {
  using TopKOp = Op<Opcode::kTopK>;
  const Array& operand = call.array(0);
  const int64_t row = operand.dim(operand.rank() - 1);
  const int64_t k = call.hlo[TopKOp::kK];
  if (IsComplex(operand.type())) return ExecutionError(call.hlo, "topk is not defined for complex numbers");
  if (k > row) return ExecutionError(call.hlo, StrCat("k must not exceed the row size ", row, ", got ", k));
  TopKParts parts = TopK(operand, k, call.hlo[TopKOp::kLargest]);
  return Value::Tuple({std::move(parts.values), std::move(parts.indices)});
}

}  // namespace shoal::internal
