// Ops without computation: tuples, tokens, and ops that forward an operand.
#include "execute/interp/evaluate.h"

namespace shoal::internal {

// Device::Run supplies parameters and constants itself, so these evaluators are never called.
template <>
Result<Value> Evaluate<Opcode::kParameter>(Call& call) {
  return ExecutionError(call.hlo, "parameters are supplied by the run and cannot be evaluated");
}
template <>
Result<Value> Evaluate<Opcode::kConstant>(Call& call) {
  return ExecutionError(call.hlo, "constants are supplied by the run and cannot be evaluated");
}

template <>
Result<Value> Evaluate<Opcode::kTuple>(Call& call) {
  return Value::Tuple({std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())});
}

template <>
Result<Value> Evaluate<Opcode::kGetTupleElement>(Call& call) {
  if (!call.operands[0].IsTuple()) return ExecutionError(call.hlo, "the operand is pending: its done op is missing");
  return call.operands[0].element(call.hlo[Op<Opcode::kGetTupleElement>::kIndex]);
}

template <>
Result<Value> Evaluate<Opcode::kAfterAll>(Call&) {
  return Value();
}

template <>
Result<Value> Evaluate<Opcode::kAddDependency>(Call& call) {
  return std::move(call.operands[0]);
}

template <>
Result<Value> Evaluate<Opcode::kOptimizationBarrier>(Call& call) {
  return std::move(call.operands[0]);
}

template <>
Result<Value> Evaluate<Opcode::kDomain>(Call& call) {
  return std::move(call.operands[0]);
}

}  // namespace shoal::internal
