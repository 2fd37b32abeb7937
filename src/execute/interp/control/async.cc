// async-start, -update, -done and copy-start, -done. A start runs its op to completion unless the op is a collective.
#include <algorithm>
#include <iterator>
#include <utility>

#include "execute/interp/control/device_collective.h"

namespace shoal::internal {
namespace {

// Evaluates one op of a wrapped computation. A collective is started and returns a pending value.
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

// Starts the collectives of a computation. Waits for a collective only if a non-collective op needs its value.
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

// Waits for all pending leaves of a value.
Result<Value> EndAll(Device& device, const Instruction& at, Value value) {
  if (!value.IsTuple()) return End(device, at, std::move(value));
  std::vector<Value> elements;
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) {
    SHOAL_ASSIGN(ended, EndAll(device, at, value.TakeElement(i)));
    elements.push_back(std::move(ended));
  }
  return Value::Tuple(std::move(elements));
}

// The computation that an async chain runs. The start names the computation; update and done may omit the name.
const Computation* ComputationOf(const Instruction& hlo) {
  if (hlo.has(kCalls)) return hlo[kCalls];
  const Instruction* start = AsyncStartOf(hlo);
  return start == nullptr ? nullptr : (*start)[kCalls];
}

// Returns ((operands), result, context…) with the operands bound so far. The computation runs once all its arguments
// are bound. Until then the result is a token.
Result<Value> Bind(Call& call, std::vector<Value> operands, Value result) {
  const Computation* computation = ComputationOf(call.hlo);
  if (computation == nullptr) return ExecutionError(call.hlo, "the async-start of this chain must name a computation");
  if (result.IsToken() && operands.size() == computation->parameters.size()) {
    std::vector<Value> arguments = KeepsOperands(call) ? operands : std::exchange(operands, {});
    SHOAL_ASSIGN(value, HasCollective(*computation) ? BeginComputation(call.device, *computation, std::move(arguments))
                                                    : call.device.Run(*computation, std::move(arguments)));
    result = std::move(value);
  }
  std::vector<Value> parts{Value::Tuple(std::move(operands)), std::move(result)};
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(ZeroValue(*context));
  return Value::Tuple(std::move(parts));
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kAsyncStart>(Call& call) {
  return Bind(call, {std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())},
              Value());
}

template <>
Result<Value> Evaluate<Opcode::kAsyncUpdate>(Call& call) {
  const Value& previous = call.operands[0];
  std::vector<Value> operands = previous.element(0).elements();
  operands.insert(operands.end(), call.operands.begin() + 1, call.operands.end());
  return Bind(call, std::move(operands), previous.element(1));
}

template <>
Result<Value> Evaluate<Opcode::kAsyncDone>(Call& call) {
  Value started = std::exchange(call.operands[0], Value());
  return EndAll(call.device, call.hlo, started.TakeElement(1));
}

// copy-start: (destination, source, context). In the interpreter, source and destination may share memory.
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
