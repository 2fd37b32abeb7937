#include "interp/dry_run/dry_run.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "interp/compiled_step.h"
#include "interp/depth.h"
#include "interp/dry_run/dry_device.h"
#include "ops/traits.h"

namespace shoal {

Array Imagined(ElementType type, Ints dims) {
  const int64_t bytes = ElementCount(dims) * StorageBytes(type);
  return Array(type, ToDims(dims), Buffer::Imagine(static_cast<size_t>(std::max<int64_t>(bytes, 0))));
}

Value Imagined(const Shape& shape) {
  if (shape.IsArray()) return Imagined(shape.element_type(), shape.dims());
  if (shape.IsBuffer()) return Imagined(shape.element(0));
  if (!shape.IsTuple()) return {};
  std::vector<Value> elements;
  for (const Shape* element : shape.elements()) elements.push_back(Imagined(*element));
  return Value::Tuple(std::move(elements));
}

void Fix(const Value& value) {
  if (value.IsArray()) Array(value.array()).Fix();  // all references see it
  if (!value.IsTuple()) return;
  for (const Value& element : value.elements()) Fix(element);
}

DryRunResult DryDevice::RunEntry() {
  // Also where memory ends: the thread goes on after it.
  const absl::Cleanup restore = [before = Buffer::MeterThisThread(&meter_)] { Buffer::MeterThisThread(before); };
  const Computation& entry = *plans_.module().entry;
  std::vector<Value> arguments;
  for (const Instruction* parameter : entry.parameters) {
    arguments.push_back(parameter == nullptr ? Value() : Imagined(parameter->shape()));  // loose text may lack some
    Fix(arguments.back());
  }
  { const Value result = Run(entry, std::move(arguments)); }
  kept_.clear();
  chains_.clear();
  out_.peak_bytes = meter_.peak();
  return std::move(out_);
}

Value DryDevice::Run(const Computation& computation, std::vector<Value> arguments) {
  const Plan& plan = plans_.Of(computation);
  if (depth_ >= kMostDepth) return Imagined(computation.result_shape());  // a run stops here
  // Calls within calls can be more than there is time for; no module that somebody compiled has so many.
  constexpr int64_t kMostSteps = 4'000'000;
  steps_ += std::ssize(plan.steps);
  if (steps_ > kMostSteps) out_.complete = false;
  if (!out_.complete) return Imagined(computation.result_shape());
  ++depth_;
  std::vector<Value> values(computation.instructions.size());
  auto known = plan.invariants == nullptr ? kept_.end() : kept_.find(&plan);
  std::vector<Value> kept(plan.invariants != nullptr && known == kept_.end() ? values.size() : 0);
  for (const Step& step : plan.steps) {
    const Instruction& hlo = *step.hlo;
    Value& value = values[hlo.index];
    if (step.is_invariant && known != kept_.end()) {
      if (step.is_kept) value = known->second[hlo.index];
      continue;
    }
    if (IsParameter(hlo)) {
      const auto number = static_cast<size_t>(hlo[kParameterNumber]);
      value = number < arguments.size() ? std::move(arguments[number]) : Imagined(hlo.shape());
    } else if (IsConstant(hlo)) {
      value = Uncounted(hlo.shape());
    } else {
      value = RunStep(step, values);
    }
    if (step.is_kept && !kept.empty()) kept[hlo.index] = value;
  }
  if (!kept.empty()) {
    for (const Step& step : plan.steps)
      if (step.is_kept) kept[step.hlo->index] = Uncounted(step.hlo->shape());
    kept_[&plan] = std::move(kept);
  }
  --depth_;
  return std::move(values[computation.root->index]);
}

Value DryDevice::Uncounted(const Shape& shape) {
  MemoryMeter* meter = Buffer::MeterThisThread(nullptr);
  Value value = Imagined(shape);
  Fix(value);
  Buffer::MeterThisThread(meter);
  return value;
}

Value DryDevice::RunStep(const Step& step, std::span<Value> values) {
  const Instruction& hlo = *step.hlo;
  if (step.takes_element) return values[hlo.operands[0]->index].TakeElement(ElementIndexOf(hlo));
  std::vector<Value> operands;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    Value& operand = values[hlo.operands[i]->index];
    operands.push_back(step.last_use[i] ? std::exchange(operand, Value()) : operand);
  }
  DryCall call{hlo, operands};
  Value value = Evaluate(call);
  meter_.Note();
  return value;
}

Value DryDevice::Evaluate(DryCall& call) {
  if (Info(call.hlo.opcode).op_class == OpClass::kElementwise) return Elementwise(call);
  const Rule rule = RuleOf(call.hlo.opcode);
  return rule != nullptr ? (this->*rule)(call) : New(call);
}

Value DryDevice::Callee(DryCall& call, const Computation& callee) {
  if (plans_.Of(callee).lanes != nullptr) return New(call);
  return Run(callee, {std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())});
}

Value DryDevice::CallOp(DryCall& call) { return Callee(call, *call.hlo[kToApply]); }

// Compiled, it is one loop without arrays in between, which may write its result over an operand.
Value DryDevice::Fusion(DryCall& call) {
  if (CompiledStepOf(call.hlo) == nullptr) return Callee(call, *call.hlo[kCalls]);
  const Shape& shape = call.hlo.shape();
  if (!shape.IsArray()) return New(call);
  for (Value& operand : call.operands) {
    if (!operand.IsArray() || !operand.array().unique() || operand.array().count() != shape.ElementCount()) continue;
    if (operand.array().element_bytes() != StorageBytes(shape.element_type())) continue;
    return Value(Array(std::move(operand.array())).WithType(shape.element_type()).WithDims(ToDims(shape.dims())));
  }
  return New(call);
}

Value DryDevice::Conditional(DryCall& call) {
  const std::vector<Computation*> branches = CalledComputations(call.hlo);
  size_t largest = 0;
  double most = -1;
  for (size_t i = 0; i < branches.size(); ++i) {
    double bytes = 0;
    for (const Instruction* hlo : branches[i]->instructions) bytes += LeafBytesOf(hlo->shape());
    if (bytes > most) largest = i;
    most = std::max(most, bytes);
  }
  if (branches.size() > 1) out_.guesses.push_back(&call.hlo);
  std::vector<Value> argument;
  argument.push_back(std::move(call.operands[largest + 1]));
  for (Value& operand : call.operands) operand = Value();
  return Run(*branches[largest], std::move(argument));
}

void DryDevice::AppendSharing(const Value& state, std::vector<int64_t>& out) {
  if (state.IsArray()) {
    out.push_back(state.array().bytes());
    out.push_back(state.array().unique() ? 1 : 0);
  } else if (state.IsTuple()) {
    for (const Value& element : state.elements()) AppendSharing(element, out);
  }
}

Value DryDevice::While(DryCall& call) {
  constexpr int64_t kUnknown = -1, kMostRounds = 64;  // a state that has not settled by then never will
  const int64_t trips = answers_.trips ? answers_.trips(call.hlo).value_or(kUnknown) : kUnknown;
  const Computation &body = *BodyOf(call.hlo), &condition = *ConditionOf(call.hlo);
  const bool is_function = plans_.IsFunction(body) && plans_.IsFunction(condition);
  Value state = std::move(call.operands[0]);
  std::vector<std::vector<int64_t>> seen;
  bool held = false;
  for (int64_t round = 1;; ++round) {
    const Value go_on = Run(condition, {state});  // there as long as the round
    if (trips != kUnknown && round > trips) return state;
    std::vector<int64_t> sharing{meter_.current()};
    AppendSharing(state, sharing);
    // The first round keeps what is the same in all others.
    const bool settled =
        round > kMostRounds || (round > 2 && std::find(seen.begin(), seen.end(), sharing) != seen.end());
    seen.push_back(std::move(sharing));
    // Rounds from the 1024th on are now and then compared with what they began with, which holds the state.
    const bool looks = settled && !held && trips >= 1024 && is_function;
    if (settled && !looks) return state;
    const Value before = looks ? state : Value();
    held |= looks;
    std::vector<Value> argument;
    argument.push_back(std::move(state));
    state = Run(body, std::move(argument));
  }
}

DryRunResult DryRun(const Plans& plans, const Participation& participation, int64_t device,
                    const DryRunAnswers& answers) {
  return DryDevice(plans, participation, device, answers).RunEntry();
}

}  // namespace shoal
