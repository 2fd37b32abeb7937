// Execution of every op: Evaluate<op> computes the value of one instruction on one device. A row of ops.def without an
// Evaluate does not link. Elementwise ops are defined in core/ops/elementwise.h and share one evaluator.
#pragma once

#include <span>

#include "core/ops/families.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

class Device;
struct ElementLoop;

// One instruction under evaluation.
struct Call {
  const Instruction& hlo;
  // In the order of hlo.operands. The evaluator may move from them and write in place into arrays without other owners.
  std::span<Value> operands;
  Device& device;
  const ElementLoop* kernel = nullptr;  // precomputed for an elementwise op

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

// The evaluator of an opcode.
Evaluator EvaluatorOf(Opcode opcode);

// An error at this instruction during a run.
inline Diag ExecutionError(const Instruction& hlo, std::string message, Site site = Site::Here()) {
  return Fail(hlo.at, "", std::move(message), site);
}

}  // namespace shoal::internal
