// The meaning of every op: Evaluate<op> gives the value of one instruction on one device. A row of ops.def without its
// Evaluate does not link. Elementwise ops have their meaning in core/ops/elementwise.h and share one evaluator.
#pragma once

#include <span>

#include "core/ops/families.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

class Device;
struct ElementLoop;

// One instruction being evaluated.
struct Call {
  const Instruction& hlo;
  // In the order of hlo.operands. The evaluator may take them apart and write in place into what it holds alone.
  std::span<Value> operands;
  Device& device;
  const ElementLoop* kernel = nullptr;  // of an elementwise op, made ready

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

// The row of the table.
Evaluator EvaluatorOf(Opcode opcode);

// A failure while running: what went wrong at this instruction.
inline Diag ExecutionError(const Instruction& hlo, std::string message, Site site = Site::Here()) {
  return Fail(hlo.at, "", std::move(message), site);
}

}  // namespace shoal::internal
