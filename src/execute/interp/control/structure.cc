// Ops that do no work: tuples, tokens, and what hands a value on.
#include "execute/interp/evaluate.h"

namespace shoal::internal {

// Device::Run has these at hand: arguments and constants are no steps.
template <>
Result<Value> Evaluate<Opcode::kParameter>(Call& call) {
  return ExecutionError(call.hlo, "a parameter is given, not evaluated");
}
template <>
Result<Value> Evaluate<Opcode::kConstant>(Call& call) {
  return ExecutionError(call.hlo, "a constant is given, not evaluated");
}

template <>
Result<Value> Evaluate<Opcode::kTuple>(Call& call) {
  return Value::Tuple({std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())});
}

template <>
Result<Value> Evaluate<Opcode::kGetTupleElement>(Call& call) {
  if (!call.operands[0].IsTuple()) return ExecutionError(call.hlo, "what its operand gives is under way: a done must end it first");
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
