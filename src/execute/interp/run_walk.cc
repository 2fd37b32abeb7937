#include "execute/interp/run_walk.h"

#include <algorithm>

#include "execute/interp/depth.h"
#include "kernels/elementwise/lane_function.h"
#include "kernels/arrays/layout_factors.h"
#include "core/ops/in_place.h"
#include "core/ops/traits.h"
#include "core/ops/price.h"

namespace shoal {

RunWalkResult RunWalk::Run() {
  const Computation& entry = *module_.entry;
  std::vector<HeldValue> arguments;
  for (const Instruction* parameter : entry.parameters) {
    arguments.push_back(parameter == nullptr ? HeldValue() : New(parameter->shape()));  // loose text may lack some
    arguments.back().Fix();
  }
  RunComputation(entry, std::move(arguments));
  out_.peak_bytes = bytes_.peak;
  return std::move(out_);
}

HeldValue RunWalk::RunComputation(const Computation& computation, std::vector<HeldValue> arguments) {
  const LiveSteps& live = liveness_.Of(computation);
  if (depth_ >= kMostDepth) return New(computation.result_shape());  // a run stops here
  // Calls within calls can be more than there is time for; no module that somebody compiled has so many.
  constexpr int64_t kMostSteps = 4'000'000;
  steps_ += std::ssize(live.steps);
  if (steps_ > kMostSteps) out_.complete = false;
  if (!out_.complete) return New(computation.result_shape());
  ++depth_;
  std::vector<HeldValue> values(computation.instructions.size());
  const auto known = live.keeps_invariants ? kept_.find(&computation) : kept_.end();
  std::vector<HeldValue> kept(live.keeps_invariants && known == kept_.end() ? values.size() : 0);
  for (const LiveStep& step : live.steps) {
    const Instruction& hlo = *step.hlo;
    HeldValue& value = values[hlo.index];
    if (step.is_invariant && known != kept_.end()) {
      if (step.is_kept) value = known->second[hlo.index];
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
    if (step.is_kept && !kept.empty()) kept[hlo.index] = value;
  }
  if (!kept.empty()) {
    for (const LiveStep& step : live.steps)
      if (step.is_kept) kept[step.hlo->index] = Uncounted(step.hlo->shape());
    kept_[&computation] = std::move(kept);
  }
  --depth_;
  return std::move(values[computation.root->index]);
}

HeldValue RunWalk::Uncounted(const Shape& shape) {
  HeldValue value(shape, nullptr);
  value.Fix();
  return value;
}

HeldValue RunWalk::RunStep(const LiveStep& live, std::span<HeldValue> values) {
  const Instruction& hlo = *live.hlo;
  if (live.takes_element) {
    HeldValue& tuple = values[hlo.operands[0]->index];
    HeldValue element = tuple.TakeElement(ElementIndexOf(hlo));
    if (live.last_use[0]) tuple = HeldValue();  // with the elements that nobody asks for
    return element;
  }
  std::vector<HeldValue> operands;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    HeldValue& operand = values[hlo.operands[i]->index];
    operands.push_back(live.last_use[i] ? std::exchange(operand, HeldValue()) : operand);
  }
  Step step{hlo, operands};
  HeldValue value = Evaluate(step);
  bytes_.Note();
  return value;
}

HeldValue RunWalk::Evaluate(Step& step) {
  const Instruction& hlo = step.hlo;
  if (IsAsyncChain(hlo)) return AsyncPart(step);
  if (IsAsyncStart(hlo)) return Start(step);
  if (IsAsyncDone(hlo)) return Done(step);
  if (BeginsCollective(hlo)) return Collective(step);
  if (IsCustomCall(hlo)) return CustomCall(step);
  if (IsLoop(hlo)) return Loop(step);
  if (IsBranch(hlo)) return Branch(step);
  if (const Computation* callee = RunOnceBy(hlo)) return Callee(step, *callee);
  if (IsGetTupleElement(hlo)) return step.operands[0].Element(ElementIndexOf(hlo));
  if (IsTuple(hlo)) return Results(step);
  return Computed(step);
}

HeldValue RunWalk::Computed(Step& step) {
  switch (ReuseOf(step.hlo)) {
    case Reuse::kResized:
      out_.guesses.push_back(&step.hlo);
      return std::move(step.operands[0]);
    case Reuse::kOperand:
      return std::move(step.operands[0]);
    case Reuse::kRelaidOut:
      return StaysRowMajor(step.hlo.operand_shape(0), step.hlo.shape()) ? std::move(step.operands[0]) : NewResult(step);
    case Reuse::kOperands:
      return Results(step);
    case Reuse::kWritesOver:
      return WrittenOver(step);
    case Reuse::kState:
      return State(step);
    case Reuse::kAnyOfItsSize:
      return InPlaceOfAny(step);
    case Reuse::kAfterOperands:
      for (HeldValue& operand : step.operands) operand = HeldValue();
      return NewResult(step);
    case Reuse::kNothing:
      break;
  }
  return NewResult(step);
}

HeldValue RunWalk::NewResult(Step& step) {
  if (step.hlo.shape().IsArray() && step.hlo.shape().has_dynamic()) out_.guesses.push_back(&step.hlo);
  return New(step.hlo.shape());
}

// As many of the operands as there are results.
HeldValue RunWalk::Results(Step& step) {
  const Shape& shape = step.hlo.shape();
  if (!shape.IsTuple()) return step.operands[0];
  const size_t count = std::min(shape.elements().size(), step.operands.size());
  return HeldValue::Tuple({step.operands.begin(), step.operands.begin() + static_cast<ptrdiff_t>(count)});
}

// In the place of the first operand that has the result's width and is nobody else's.
HeldValue RunWalk::InPlaceOfAny(Step& step) {
  const Shape& shape = step.hlo.shape();
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Shape& operand = step.hlo.operand_shape(i);
    if (operand.ElementCount() == shape.ElementCount()) continue;
    step.operands[i] = HeldValue::Array(operand.element_type(), shape.dims(), &bytes_);  // a scalar, spread out
  }
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (step.operands[i].IsAlone() &&
        StorageBytes(step.hlo.operand_shape(i).element_type()) == StorageBytes(shape.element_type()))
      return std::move(step.operands[i]);
  return New(shape);
}

// Into the arrays it was given; where others hold one, into a new one.
HeldValue RunWalk::WrittenOver(Step& step) {
  std::vector<HeldValue> results;
  for (const InPlace& in_place : InPlaceOf(step.hlo)) {
    const auto number = static_cast<size_t>(in_place.operand);
    if (number >= step.operands.size()) continue;
    HeldValue given = std::exchange(step.operands[number], HeldValue());
    results.push_back(given.IsAlone() ? std::move(given) : New(step.hlo.operand_shape(number)));
  }
  if (step.hlo.shape().IsTuple()) return HeldValue::Tuple(std::move(results));
  return results.empty() ? NewResult(step) : std::move(results[0]);
}

HeldValue RunWalk::State(Step& step) {
  const Shape& shape = step.hlo.shape();
  if (!shape.IsTuple()) return New(shape);
  HeldValue state = std::exchange(step.operands[0], HeldValue());
  if (!state.IsAlone()) state = New(step.hlo.operand_shape(0));
  return HeldValue::Tuple({std::move(state), New(shape.element(1))});
}

// A computation of scalars only has no arrays in between.
bool RunWalk::RunsInRegisters(const Computation& callee) {
  auto [known, is_new] = in_registers_.try_emplace(&callee, false);
  if (is_new) known->second = LaneFunction::Of(callee) != nullptr;
  return known->second;
}

HeldValue RunWalk::Callee(Step& step, const Computation& callee) {
  if (RunsInRegisters(callee)) return NewResult(step);
  return RunComputation(callee,
                        {std::make_move_iterator(step.operands.begin()), std::make_move_iterator(step.operands.end())});
}

// The branch whose instructions make most, unless all are one.
HeldValue RunWalk::Branch(Step& step) {
  const std::vector<Computation*> branches = CalledComputations(step.hlo);
  size_t largest = 0;
  double most = -1;
  for (size_t i = 0; i < branches.size(); ++i) {
    double bytes = 0;
    for (const Instruction* hlo : branches[i]->instructions) bytes += LeafBytesOf(hlo->shape());
    if (bytes > most) largest = i;
    most = std::max(most, bytes);
  }
  if (branches.size() > 1) out_.guesses.push_back(&step.hlo);
  std::vector<HeldValue> argument;
  argument.push_back(std::move(step.operands[largest + 1]));
  for (HeldValue& operand : step.operands) operand = HeldValue();
  return RunComputation(*branches[largest], std::move(argument));
}

HeldValue RunWalk::Loop(Step& step) {
  constexpr int64_t kUnknown = -1, kMostRounds = 64;  // a state that has not settled by then never will
  const int64_t trips = trips_(step.hlo).value_or(kUnknown);
  const Computation &body = *BodyOf(step.hlo), &condition = *ConditionOf(step.hlo);
  const bool is_function = liveness_.IsFunction(body) && liveness_.IsFunction(condition);
  HeldValue state = std::move(step.operands[0]);
  std::vector<std::vector<int64_t>> seen;
  bool held = false;
  for (int64_t round = 1;; ++round) {
    const HeldValue go_on = RunComputation(condition, {state});  // there as long as the round
    if (trips != kUnknown && round > trips) return state;
    std::vector<int64_t> sharing{bytes_.current};
    state.AppendSharing(sharing);
    // The first round keeps what is the same in all others.
    const bool settled =
        round > kMostRounds || (round > 2 && std::find(seen.begin(), seen.end(), sharing) != seen.end());
    seen.push_back(std::move(sharing));
    // Rounds from the 1024th on are now and then compared with what they began with, which holds the state.
    const bool looks = settled && !held && trips >= 1024 && is_function;
    if (settled && !looks) return state;
    const HeldValue before = looks ? state : HeldValue();
    held |= looks;
    std::vector<HeldValue> argument;
    argument.push_back(std::move(state));
    state = RunComputation(body, std::move(argument));
  }
}

}  // namespace shoal
