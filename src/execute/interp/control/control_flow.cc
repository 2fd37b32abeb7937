// Ops that call other computations.
#include <algorithm>
#include <bit>
#include <cstring>

#include "execute/interp/device.h"
#include "execute/interp/evaluate.h"

namespace shoal::internal {
namespace {

std::vector<Value> MoveOperands(Call& call) {
  return {std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())};
}

// False if a loosely typed module passes arguments of other float types, or fewer arguments than the callee declares.
bool Fits(const LaneFunction& function, const Call& call) {
  if (call.operands.size() != function.parameter_count()) return false;
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (!call.operands[i].IsArray() || call.operands[i].array().type() != function.parameter_type(i)) return false;
  return true;
}

// Runs a computation on scalars as one lane function.
Value RunScalars(const LaneFunction& function, Call& call) {
  absl::InlinedVector<const std::byte*, 8> ins;
  for (const Value& operand : call.operands) ins.push_back(operand.array().data());
  std::vector<Value> results;
  absl::InlinedVector<std::byte*, 4> outs;
  for (size_t i = 0; i < function.result_count(); ++i) {
    results.emplace_back(Array(function.result_type(i), Dims{}));
    outs.push_back(results.back().array().mutable_data());
  }
  function.Run(outs, ins, 1);
  return call.hlo.shape().IsTuple() ? Value::Tuple(std::move(results)) : std::move(results[0]);
}

Result<Value> RunCallee(Call& call, const Computation& callee) {
  const LaneFunction* lanes = call.device.plans().Of(callee).lanes.get();
  const bool is_observed = call.device.settings().observer != nullptr;
  if (lanes != nullptr && !is_observed && Fits(*lanes, call)) return RunScalars(*lanes, call);
  return call.device.Run(callee, MoveOperands(call));
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kCall>(Call& call) {
  return RunCallee(call, *call.hlo[kToApply]);
}

template <>
Result<Value> Evaluate<Opcode::kFusion>(Call& call) {
  return RunCallee(call, *call.hlo[kCalls]);
}

// A true predicate selects the first branch. An out-of-range index selects the last branch.
template <>
Result<Value> Evaluate<Opcode::kConditional>(Call& call) {
  using Conditional = Op<Opcode::kConditional>;
  const Instruction& hlo = call.hlo;
  const std::vector<Computation*> branches = CalledComputations(hlo);
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  int64_t branch = IntAt(call.array(0), 0);
  branch = Conditional::HasPredicate(hlo) ? (branch != 0 ? 0 : 1) : branch < 0 || branch > last ? last : branch;
  call.device.control_flow_state().branches[&hlo] = branch;
  std::vector<int64_t>& taken = call.device.branches[&hlo];
  taken.resize(branches.size());
  ++taken[static_cast<size_t>(branch)];
  std::vector<Value> argument;
  argument.push_back(std::move(call.operands[static_cast<size_t>(branch) + 1]));
  for (Value& operand : call.operands) operand = Value();  // release operands of the other branches
  return call.device.Run(*branches[static_cast<size_t>(branch)], std::move(argument));
}

namespace {

bool AreIdentical(const Value& a, const Value& b) {
  std::vector<Value> left, right;
  AppendLeaves(a, left);
  AppendLeaves(b, right);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Value& x, const Value& y) {
    if (!x.IsArray() || !y.IsArray()) return x.IsToken() && y.IsToken();
    const auto bytes = static_cast<size_t>(x.array().bytes());
    return x.array().bytes() == y.array().bytes() && std::memcmp(x.array().data(), y.array().data(), bytes) == 0;
  });
}

// Detects an iteration that leaves the loop state unchanged: then all later iterations would leave it unchanged, too.
// Checks only iterations 1024, 2048, 4096, …, because each check copies the state.
class EndlessLoopCheck {
 public:
  explicit EndlessLoopCheck(const Call& call) : call_(call) {}

  void BeforeIteration(int64_t iteration, const Value& state) {
    compares_ = iteration >= 1024 && std::has_single_bit(static_cast<uint64_t>(iteration)) && IsDeterministic();
    if (compares_) previous_ = state;
  }
  bool IsEndless(const Value& state) { return compares_ && AreIdentical(std::exchange(previous_, Value()), state); }

 private:
  bool IsDeterministic() const {
    const Liveness& liveness = call_.device.plans().liveness();
    return liveness.IsDeterministic(*call_.hlo[Op<Opcode::kWhile>::kBody]) &&
           liveness.IsDeterministic(*call_.hlo[Op<Opcode::kWhile>::kCondition]);
  }

  const Call& call_;
  Value previous_;
  bool compares_ = false;
};

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kWhile>(Call& call) {
  using While = Op<Opcode::kWhile>;
  Value state = std::move(call.operands[0]);
  EndlessLoopCheck check(call);
  int64_t& iterations = call.device.control_flow_state().iterations[&call.hlo];
  Device::LoopRuns& runs = call.device.loops[&call.hlo];
  ++runs.entered;
  for (iterations = 0;;) {
    SHOAL_ASSIGN(predicate, call.device.Run(*call.hlo[While::kCondition], {state}));
    if (IntAt(predicate.array(), 0) == 0) return state;
    check.BeforeIteration(++iterations, state);
    std::vector<Value> argument;
    argument.push_back(std::move(state));
    SHOAL_ASSIGN(next, call.device.Run(*call.hlo[While::kBody], std::move(argument)));
    state = std::move(next);
    call.device.CountIteration();
    ++runs.iterations;
    if (!check.IsEndless(state)) continue;
    call.device.endless_loops.insert(&call.hlo);
    return state;
  }
}

}  // namespace shoal::internal
