// The table of evaluators, built from ops.def.
#include "execute/interp/evaluate.h"

namespace shoal::internal {
namespace {

template <Opcode op>
constexpr Evaluator Row() {
  if constexpr (Op<op>::kClass == OpClass::kElementwise) return &EvaluateElementwise;
  return &Evaluate<op>;
}

Result<Value> EvaluateUnknown(Call& call) {
  return ExecutionError(call.hlo, StrCat("unknown opcode ", call.hlo[kUnknownOpcode]));
}

constexpr Evaluator kEvaluators[] = {
#define OP(Name, text, arity) Row<Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
    &EvaluateUnknown,
};

}  // namespace

Evaluator EvaluatorOf(Opcode opcode) { return kEvaluators[static_cast<size_t>(opcode)]; }

}  // namespace shoal::internal
