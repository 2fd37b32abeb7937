// Execution of every op: Evaluate<op> computes the value of one instruction on one device. If an op in ops.def has no
// Evaluate, the program does not link. All elementwise ops (core/ops/elementwise.h) share one evaluator.
#pragma once

#include <span>

#include "core/ops/families.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

class BackendConfig;
class Device;
struct ElementLoop;

// The evaluation of one instruction.
struct Call {
  const Instruction& hlo;
  // Values in the order of hlo.operands. The evaluator may move from them and may write to arrays without other owners.
  std::span<Value> operands;
  Device& device;
  const ElementLoop* kernel = nullptr;  // precomputed for elementwise ops
  const BackendConfig* config = nullptr;  // parsed for custom calls of a plan

  const Array& array(size_t i) const { return operands[i].array(); }
};

using Evaluator = Result<Value> (*)(Call& call);

template <Opcode op>
Result<Value> Evaluate(Call& call);
#define OP(Name, text, arity) \
  template <>                 \
  Result<Value> Evaluate<Opcode::k##Name>(Call & call);
#include "core/ops/ops.def"
#undef OP

Result<Value> EvaluateElementwise(Call& call);

Evaluator EvaluatorOf(Opcode opcode);

// Returns an error at this instruction that occurred during a run.
inline Diag ExecutionError(const Instruction& hlo, std::string message, Site site = Site::Here()) {
  return Fail(hlo.at, "", std::move(message), site);
}

}  // namespace shoal::internal
