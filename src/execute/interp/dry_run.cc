#include "execute/interp/dry_run.h"

#include <algorithm>

#include "execute/interp/depth.h"
#include "kernels/elementwise/lane_function.h"
#include "kernels/arrays/layout_factors.h"
#include "core/ops/in_place.h"
#include "core/ops/traits.h"
#include "core/ops/op_cost.h"

namespace shoal::internal {

DryRunResult DryRun::Run() {
  const Computation& entry = *module_.entry;
  std::vector<SizedValue> arguments;
  for (const Instruction* parameter : entry.parameters) {
    arguments.push_back(parameter == nullptr ? SizedValue() : New(parameter->shape()));  // null in loosely parsed text
    arguments.back().Freeze();
  }
  RunComputation(entry, std::move(arguments));
  out_.peak_bytes = bytes_.peak;
  return std::move(out_);
}

SizedValue DryRun::RunComputation(const Computation& computation, std::vector<SizedValue> arguments) {
  const ComputationLiveness& live = liveness_.Of(computation);
  if (depth_ >= kMaxDepth) return New(computation.result_shape());  // a real run fails here
  // There can be too many nested calls to simulate. Compiled modules stay far below this limit.
  constexpr int64_t kMaxSteps = 4'000'000;
  steps_ += std::ssize(live.steps);
  if (steps_ > kMaxSteps) out_.complete = false;
  if (!out_.complete) return New(computation.result_shape());
  ++depth_;
  std::vector<SizedValue> values(computation.instructions.size());
  const auto cached = live.keeps_invariants ? invariants_.find(&computation) : invariants_.end();
  std::vector<SizedValue> new_invariants(live.keeps_invariants && cached == invariants_.end() ? values.size() : 0);
  for (const InstructionLiveness& step : live.steps) {
    const Instruction& hlo = *step.hlo;
    SizedValue& value = values[hlo.index];
    if (step.is_invariant && cached != invariants_.end()) {
      if (step.is_kept) value = cached->second[hlo.index];
      continue;
    }
    if (IsParameter(hlo)) {
      const auto number = static_cast<size_t>(hlo[kParameterNumber]);
      value = number < arguments.size() ? std::move(arguments[number]) : New(hlo.shape());
    } else if (IsConstant(hlo)) {
      value = Uncounted(hlo.shape());
    } else {
      value = RunStep(step, values);
    }
    if (step.is_kept && !new_invariants.empty()) new_invariants[hlo.index] = value;
  }
  if (!new_invariants.empty()) {
    for (const InstructionLiveness& step : live.steps)
      if (step.is_kept) new_invariants[step.hlo->index] = Uncounted(step.hlo->shape());
    invariants_[&computation] = std::move(new_invariants);
  }
  --depth_;
  return std::move(values[computation.root->index]);
}

SizedValue DryRun::Uncounted(const Shape& shape) {
  SizedValue value(shape, nullptr);
  value.Freeze();
  return value;
}

SizedValue DryRun::RunStep(const InstructionLiveness& live, std::span<SizedValue> values) {
  const Instruction& hlo = *live.hlo;
  if (live.takes_element) {
    SizedValue& tuple = values[hlo.operands[0]->index];
    SizedValue element = tuple.TakeElement(ElementIndexOf(hlo));
    if (live.last_use[0]) tuple = SizedValue();  // drops the unused elements
    return element;
  }
  std::vector<SizedValue> operands;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    SizedValue& operand = values[hlo.operands[i]->index];
    operands.push_back(live.last_use[i] ? std::exchange(operand, SizedValue()) : operand);
  }
  OpFrame step{hlo, operands};
  SizedValue value = Evaluate(step);
  bytes_.UpdatePeak();
  return value;
}

SizedValue DryRun::Evaluate(OpFrame& step) {
  const Instruction& hlo = step.hlo;
  if (IsAsyncChain(hlo)) return AsyncOp(step);
  if (IsAsyncStart(hlo)) return Start(step);
  if (IsAsyncDone(hlo)) return Done(step);
  if (StartsCollective(hlo)) return Collective(step);
  if (IsCustomCall(hlo)) return CustomCall(step);
  if (IsLoop(hlo)) return RunLoop(step);
  if (IsBranch(hlo)) return RunLargestBranch(step);
  if (const Computation* callee = CalleeRunOnce(hlo)) return RunCallee(step, *callee);
  if (IsGetTupleElement(hlo)) return step.operands[0].Element(ElementIndexOf(hlo));
  if (IsTuple(hlo)) return OperandsAsResults(step);
  return AllocateResult(step);
}

SizedValue DryRun::AllocateResult(OpFrame& step) {
  switch (ReuseOf(step.hlo)) {
    case ReuseKind::kResized:
      out_.guesses.push_back(&step.hlo);
      return std::move(step.operands[0]);
    case ReuseKind::kOperand:
      return std::move(step.operands[0]);
    case ReuseKind::kRelaidOut:
      return StaysRowMajor(step.hlo.operand_shape(0), step.hlo.shape()) ? std::move(step.operands[0]) : NewResult(step);
    case ReuseKind::kOperands:
      return OperandsAsResults(step);
    case ReuseKind::kOverwrites:
      return WriteInPlace(step);
    case ReuseKind::kState:
      return GeneratorState(step);
    case ReuseKind::kAnySameSize:
      return ReuseAnyOperand(step);
    case ReuseKind::kAfterOperands:
      for (SizedValue& operand : step.operands) operand = SizedValue();
      return NewResult(step);
    case ReuseKind::kNothing:
      break;
  }
  return NewResult(step);
}

SizedValue DryRun::NewResult(OpFrame& step) {
  if (step.hlo.shape().IsArray() && step.hlo.shape().has_dynamic()) out_.guesses.push_back(&step.hlo);
  return New(step.hlo.shape());
}

// Forwards as many operands as there are results.
SizedValue DryRun::OperandsAsResults(OpFrame& step) {
  const Shape& shape = step.hlo.shape();
  if (!shape.IsTuple()) return step.operands[0];
  const size_t count = std::min(shape.elements().size(), step.operands.size());
  return SizedValue::Tuple({step.operands.begin(), step.operands.begin() + static_cast<ptrdiff_t>(count)});
}

// Reuses the first operand that has no other owners and the result's element width.
SizedValue DryRun::ReuseAnyOperand(OpFrame& step) {
  const Shape& shape = step.hlo.shape();
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Shape& operand = step.hlo.operand_shape(i);
    if (operand.ElementCount() == shape.ElementCount()) continue;
    step.operands[i] = SizedValue::Array(operand.element_type(), shape.dims(), &bytes_);  // broadcasts a scalar
  }
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (step.operands[i].IsUnique() &&
        StorageBytes(step.hlo.operand_shape(i).element_type()) == StorageBytes(shape.element_type()))
      return std::move(step.operands[i]);
  return New(shape);
}

// Writes into the operands' arrays, but replaces an array with other owners by a new array.
SizedValue DryRun::WriteInPlace(OpFrame& step) {
  std::vector<SizedValue> results;
  for (const InPlace& in_place : InPlaceOf(step.hlo)) {
    const auto number = static_cast<size_t>(in_place.operand);
    if (number >= step.operands.size()) continue;
    SizedValue array = std::exchange(step.operands[number], SizedValue());
    results.push_back(array.IsUnique() ? std::move(array) : New(step.hlo.operand_shape(number)));
  }
  if (step.hlo.shape().IsTuple()) return SizedValue::Tuple(std::move(results));
  return results.empty() ? NewResult(step) : std::move(results[0]);
}

SizedValue DryRun::GeneratorState(OpFrame& step) {
  const Shape& shape = step.hlo.shape();
  if (!shape.IsTuple()) return New(shape);
  SizedValue state = std::exchange(step.operands[0], SizedValue());
  if (!state.IsUnique()) state = New(step.hlo.operand_shape(0));
  return SizedValue::Tuple({std::move(state), New(shape.element(1))});
}

// True if the computation is on scalars only: then it allocates no intermediate arrays.
bool DryRun::RunsInRegisters(const Computation& callee) {
  auto [cached, is_new] = in_registers_.try_emplace(&callee, false);
  if (is_new) cached->second = LaneFunction::Of(callee) != nullptr;
  return cached->second;
}

SizedValue DryRun::RunCallee(OpFrame& step, const Computation& callee) {
  if (RunsInRegisters(callee)) return NewResult(step);
  return RunComputation(callee,
                        {std::make_move_iterator(step.operands.begin()), std::make_move_iterator(step.operands.end())});
}

// Runs the branch with the largest values. If there are several branches, records the choice as a guess.
SizedValue DryRun::RunLargestBranch(OpFrame& step) {
  const std::vector<Computation*> branches = CalledComputations(step.hlo);
  size_t largest = 0;
  double max_bytes = -1;
  for (size_t i = 0; i < branches.size(); ++i) {
    double bytes = 0;
    for (const Instruction* hlo : branches[i]->instructions) bytes += LeafBytesOf(hlo->shape());
    if (bytes > max_bytes) largest = i;
    max_bytes = std::max(max_bytes, bytes);
  }
  if (branches.size() > 1) out_.guesses.push_back(&step.hlo);
  std::vector<SizedValue> argument;
  argument.push_back(std::move(step.operands[largest + 1]));
  for (SizedValue& operand : step.operands) operand = SizedValue();
  return RunComputation(*branches[largest], std::move(argument));
}

SizedValue DryRun::RunLoop(OpFrame& step) {
  constexpr int64_t kUnknown = -1, kMaxIterations = 64;  // a state that still changes by then never settles
  const int64_t trips = trips_(step.hlo).value_or(kUnknown);
  const Computation &body = *BodyOf(step.hlo), &condition = *ConditionOf(step.hlo);
  const bool is_deterministic = liveness_.IsDeterministic(body) && liveness_.IsDeterministic(condition);
  SizedValue state = std::move(step.operands[0]);
  std::vector<std::vector<int64_t>> seen;
  bool has_held_previous = false;
  for (int64_t iteration = 1;; ++iteration) {
    const SizedValue predicate = RunComputation(condition, {state});  // kept live during the iteration
    if (trips != kUnknown && iteration > trips) return state;
    std::vector<int64_t> sharing{bytes_.current};
    state.AppendSharing(sharing);
    // The first iteration computes the invariants for all later iterations.
    const bool settled =
        iteration > kMaxIterations || (iteration > 2 && std::find(seen.begin(), seen.end(), sharing) != seen.end());
    seen.push_back(std::move(sharing));
    // Starting at iteration 1024, a real run sometimes keeps the previous state to compare it with the next state.
    const bool holds_previous = settled && !has_held_previous && trips >= 1024 && is_deterministic;
    if (settled && !holds_previous) return state;
    const SizedValue previous = holds_previous ? state : SizedValue();
    has_held_previous |= holds_previous;
    std::vector<SizedValue> argument;
    argument.push_back(std::move(state));
    state = RunComputation(body, std::move(argument));
  }
}

}  // namespace shoal::internal
