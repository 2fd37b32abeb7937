// async-start, -update, -done and copy-start, -done. What is no collective is done at once, at the start.
#include <algorithm>
#include <iterator>
#include <utility>

#include "execute/interp/control/device_collective.h"

namespace shoal::internal {
namespace {

// Evaluates one op of a wrapped computation; a collective begins, and its value is under way.
Result<Value> EvaluateWrapped(Device& device, const EvalStep& step, std::vector<Value> operands) {
  if (!StartsCollective(*step.hlo)) return device.Evaluate(step, operands);
  if (step.typed != nullptr)
    return ExecutionError(*step.hlo, "an async collective must have operands and results of one float type");
  for (Value& operand : operands) {
    SHOAL_ASSIGN(ended, End(device, *step.hlo, std::move(operand)));
    operand = std::move(ended);
  }
  Call call{*step.hlo, operands, device};
  return Begin(call);
}

// A computation whose collectives are begun, and waited for only where another op needs their values.
Result<Value> BeginComputation(Device& device, const Computation& computation, std::vector<Value> arguments) {
  const ComputationPlan& plan = device.plans().Of(computation);
  std::vector<Value> values(computation.instructions.size());
  for (const EvalStep& step : plan.steps) {
    const Instruction& hlo = *step.hlo;
    Value& value = values[hlo.index];
    if (hlo.opcode == Opcode::kParameter) {
      value = std::move(arguments[static_cast<size_t>(hlo[kParameterNumber])]);
    } else if (hlo.opcode == Opcode::kConstant) {
      value = plan.constants[hlo.index];
    } else {
      std::vector<Value> operands;
      for (const Instruction* operand : hlo.operands) operands.push_back(values[operand->index]);
      SHOAL_ASSIGN(result, EvaluateWrapped(device, step, std::move(operands)));
      value = std::move(result);
    }
  }
  return std::move(values[computation.root->index]);
}

bool HasCollective(const Computation& computation) {
  return std::any_of(computation.instructions.begin(), computation.instructions.end(),
                     [](const Instruction* hlo) { return StartsCollective(*hlo); });
}

// Everything in a value that is under way, ended.
Result<Value> EndAll(Device& device, const Instruction& at, Value value) {
  if (!value.IsTuple()) return End(device, at, std::move(value));
  std::vector<Value> elements;
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) {
    SHOAL_ASSIGN(ended, EndAll(device, at, value.TakeElement(i)));
    elements.push_back(std::move(ended));
  }
  return Value::Tuple(std::move(elements));
}

// The computation an async chain runs: a start names it, the others may leave that to the start.
const Computation* ComputationOf(const Instruction& hlo) {
  if (hlo.has(kCalls)) return hlo[kCalls];
  const Instruction* start = AsyncStartOf(hlo);
  return start == nullptr ? nullptr : (*start)[kCalls];
}

// ((operands), result, context…) with what is bound so far. The computation runs once it has all its arguments; until
// then the result is a token.
Result<Value> Bound(Call& call, std::vector<Value> operands, Value result) {
  const Computation* computation = ComputationOf(call.hlo);
  if (computation == nullptr) return ExecutionError(call.hlo, "nothing says which computation this async chain runs");
  if (result.IsToken() && operands.size() == computation->parameters.size()) {
    std::vector<Value> arguments = KeepsOperands(call) ? operands : std::exchange(operands, {});
    SHOAL_ASSIGN(begun, HasCollective(*computation) ? BeginComputation(call.device, *computation, std::move(arguments))
                                                    : call.device.Run(*computation, std::move(arguments)));
    result = std::move(begun);
  }
  std::vector<Value> parts{Value::Tuple(std::move(operands)), std::move(result)};
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(ZeroValue(*context));
  return Value::Tuple(std::move(parts));
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kAsyncStart>(Call& call) {
  return Bound(call, {std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())},
               Value());
}

template <>
Result<Value> Evaluate<Opcode::kAsyncUpdate>(Call& call) {
  const Value& before = call.operands[0];
  std::vector<Value> operands = before.element(0).elements();
  operands.insert(operands.end(), call.operands.begin() + 1, call.operands.end());
  return Bound(call, std::move(operands), before.element(1));
}

template <>
Result<Value> Evaluate<Opcode::kAsyncDone>(Call& call) {
  Value started = std::exchange(call.operands[0], Value());
  return EndAll(call.device, call.hlo, started.TakeElement(1));
}

// (destination, source, context); source and destination share their memory here.
template <>
Result<Value> Evaluate<Opcode::kCopyStart>(Call& call) {
  std::vector<Value> parts{call.operands[0], call.operands[0]};
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(ZeroValue(*context));
  return Value::Tuple(std::move(parts));
}

template <>
Result<Value> Evaluate<Opcode::kCopyDone>(Call& call) {
  return call.operands[0].TakeElement(0);
}

}  // namespace shoal::internal
