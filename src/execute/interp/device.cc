#include "execute/interp/device.h"

#include <chrono>
#include <cstring>

#include "core/base/settings.h"
#include "core/ops/traits.h"
#include "execute/interp/control/device_collective.h"
#include "execute/interp/declared_shape.h"
#include "execute/interp/depth.h"
#include "execute/interp/step_log.h"

namespace shoal::internal {
namespace {

// Stores copies that are not charged to any device, because they outlive the devices.
void KeepInvariants(InvariantValues& invariants, std::vector<Value> values) {
  MemoryMeter* meter = Buffer::MeterThisThread(nullptr);
  for (Value& value : values) {
    if (!value.IsArray()) continue;
    Array copy(value.array().type(), value.array().dims());
    if (copy.bytes() != 0) std::memcpy(copy.mutable_data(), value.array().data(), static_cast<size_t>(copy.bytes()));
    value = std::move(copy);
  }
  invariants.Keep(std::move(values));
  Buffer::MeterThisThread(meter);
}

Diag NotScalar(const Instruction& at, const Computation& computation, const Shape& shape) {
  return ExecutionError(at, StrCat(computation.name, " must take and return scalars, got ", ToString(shape)));
}

}  // namespace

Device::Device(int64_t id, const DeviceGrid& grid, const ModulePlan& plans, CollectiveRuntime& world, const RunSettings& settings)
    : id_(id), grid_(grid), plans_(plans), world_(world), settings_(settings) {}

Result<Value> Device::Run(const Computation& computation, std::vector<Value> arguments) {
  const ComputationPlan& plan = plans_.Of(computation);
  if (depth_ >= kMaxDepth)
    return Fail(computation.at, "", StrCat("computation calls are nested more than ", kMaxDepth, " deep"));
  ++depth_;
  std::vector<Value> values(computation.instructions.size());
  // An observer must see every instruction of every iteration, so no values are cached.
  Observer* observer = ValueObserverOf(settings_);
  InvariantValues* invariants = observer == nullptr ? plan.invariants.get() : nullptr;
  // Each device computes the invariants once, so that its memory use does not depend on which device runs first.
  const bool is_first = invariants != nullptr && has_run_.insert(&plan).second;
  const std::vector<Value>* cached = invariants == nullptr || is_first ? nullptr : invariants->Get();
  std::vector<Value> new_invariants(invariants != nullptr && cached == nullptr ? values.size() : 0);
  for (const EvalStep& step : plan.steps) {
    const Instruction& hlo = *step.hlo;
    Value& value = values[hlo.index];
    if (step.is_invariant && cached != nullptr) {
      if (step.is_kept) value = (*cached)[hlo.index];
      continue;
    }
    if (IsParameter(hlo)) {
      if (static_cast<size_t>(hlo[kParameterNumber]) >= arguments.size())
        return ExecutionError(hlo, StrCat(hlo.name, " is parameter ", hlo[kParameterNumber], ", but ",
                                          computation.name, " received ", arguments.size(), " arguments"));
      value = std::move(arguments[static_cast<size_t>(hlo[kParameterNumber])]);
    } else if (IsConstant(hlo)) {
      value = plan.constants[hlo.index];
    } else {
      SHOAL_ASSIGN(computed, RunStep(step, values));
      value = std::move(computed);
    }
    if (step.is_kept && !new_invariants.empty()) new_invariants[hlo.index] = value;
    if (observer != nullptr) SHOAL_TRY(observer->OnValue(*this, hlo, value));
  }
  --depth_;
  if (!new_invariants.empty()) KeepInvariants(*invariants, std::move(new_invariants));
  return std::move(values[computation.root->index]);
}

Result<Value> Device::RunStep(const EvalStep& step, std::span<Value> values) {
  const Instruction& hlo = *step.hlo;
  if (world_.stopped()) return ExecutionError(hlo, "the run was stopped");
  const int64_t before = progress_.instructions.fetch_add(1, std::memory_order_relaxed);
  if (settings_.max_instructions > 0 && before >= settings_.max_instructions)
    return ExecutionError(hlo, StrCat("device ", id_, " executed ", before, " instructions, the limit of ", Setting("max_instructions")));
  progress_.now.store(&hlo, std::memory_order_relaxed);
  const StepLog::Timer timer(in_lanes_ ? nullptr : LogOf(settings_), id_, hlo);
  if (step.takes_element && values[hlo.operands[0]->index].IsTuple()) {
    Value& tuple = values[hlo.operands[0]->index];
    Value element = tuple.TakeElement(ElementIndexOf(hlo));
    if (step.last_use[0]) tuple = Value();  // drops the unused elements
    return element;
  }
  absl::InlinedVector<Value, 4> operands;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    Value& operand = values[hlo.operands[i]->index];
    operands.push_back(step.last_use[i] ? std::exchange(operand, Value()) : operand);
  }
  Result<Value> value = Evaluate(step, {operands.data(), operands.size()});
  // The peak is updated while operands and result are both live. It does not include temporaries of the evaluator.
  if (MemoryMeter* meter = Buffer::MeterOfThisThread(); meter != nullptr && !in_lanes_) meter->UpdatePeak();
  return value;
}

Result<Value> Device::Evaluate(const EvalStep& step, std::span<Value> operands) {
  const Instruction& hlo = *step.hlo;
  const TypedInstruction* typed = step.typed.get();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].IsPending() && !step.accepts_pending) {
      SHOAL_ASSIGN(ended, End(*this, hlo, std::move(operands[i])));
      operands[i] = std::move(ended);
    }
    if (typed != nullptr && operands[i].IsArray())
      operands[i] = Converted(operands[i].array(), typed->types.operands[i]);
  }
  Call call{typed != nullptr ? typed->hlo : hlo, operands, *this, &step.kernel, step.config.get()};
  Result<Value> value = step.thunk != nullptr ? step.thunk->Run(call)
                        : step.is_fallback    ? RunFallback(step, call)
                                              : step.evaluate(call);
  if (!value.ok()) return value;
  if (typed != nullptr) *value = WithDeclaredTypes(std::move(*value), hlo.shape());
  if (!HasShape(*value, hlo.shape()))
    if (Status declared = CheckDeclaredShape(hlo, *value); !declared.ok()) return std::move(declared.diag());
  return value;
}

Result<Value> Device::RunFallback(const EvalStep& step, Call& call) {
  if (in_fallback_ || in_lanes_ || !settings_.times_fallbacks) return step.evaluate(call);
  using Clock = std::chrono::steady_clock;
  in_fallback_ = true;
  const auto start = Clock::now();
  Result<Value> value = step.evaluate(call);
  fallback_seconds[step.hlo] += std::chrono::duration<double>(Clock::now() - start).count();
  in_fallback_ = false;
  return value;
}

Status Device::RunLanes(const Instruction& at, const Computation& computation, std::span<const LanesOut> outs,
                        std::span<const LanesIn> ins, int64_t n) {
  const auto results = LeafShapes(computation.result_shape());
  if (ins.size() != computation.parameters.size() || outs.size() != results.size())
    return ExecutionError(at, StrCat(computation.name, " must take ", ins.size(), " scalars and return ", outs.size(),
                                     ", but takes ", computation.parameters.size(), " and returns ", results.size()));
  std::vector<Array> converted;  // owns the converted inputs
  absl::InlinedVector<const std::byte*, 8> from;
  absl::InlinedVector<std::byte*, 4> to;
  for (size_t k = 0; k < ins.size(); ++k) {
    const Shape& shape = computation.parameters[k]->shape();
    if (!shape.IsScalar()) return NotScalar(at, computation, shape);
    from.push_back(ins[k].data);
    if (shape.element_type() == ins[k].type) continue;
    converted.emplace_back(shape.element_type(), Dims{n});
    ElementLoopForConvert(ins[k].type, shape.element_type()).Run(converted.back().mutable_data(), &from.back(), n);
    from.back() = std::as_const(converted.back()).data();
  }
  std::vector<std::pair<size_t, Array>> to_convert;
  for (size_t k = 0; k < outs.size(); ++k) {
    if (!results[k]->IsScalar()) return NotScalar(at, computation, *results[k]);
    to.push_back(outs[k].data);
    if (results[k]->element_type() == outs[k].type) continue;
    to_convert.emplace_back(k, Array(results[k]->element_type(), Dims{n}));
    to.back() = to_convert.back().second.mutable_data();
  }
  SHOAL_TRY(RunTypedLanes(computation, to, from, n));
  for (const auto& [k, array] : to_convert) {
    const std::byte* in = array.data();
    ElementLoopForConvert(array.type(), outs[k].type).Run(outs[k].data, &in, n);
  }
  return {};
}

Status Device::RunTypedLanes(const Computation& computation, std::span<std::byte* const> outs,
                             std::span<const std::byte* const> ins, int64_t n) {
  const ComputationPlan& plan = plans_.Of(computation);
  if (plan.lanes != nullptr) {
    plan.lanes->Run(outs, ins, n);
    return {};
  }
  // The scalar steps that compute an element are part of the op and are not logged separately.
  const bool was_in_lanes = std::exchange(in_lanes_, true);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Value> arguments;
    for (size_t k = 0; k < ins.size(); ++k) {
      Array scalar(computation.parameters[k]->shape().element_type(), Dims{});
      std::memcpy(scalar.mutable_data(), ins[k] + i * scalar.element_bytes(), static_cast<size_t>(scalar.bytes()));
      arguments.push_back(std::move(scalar));
    }
    SHOAL_ASSIGN(result, Run(computation, std::move(arguments)));
    std::vector<Value> leaves;
    AppendLeaves(result, leaves);
    for (size_t k = 0; k < outs.size(); ++k) {
      const Array& scalar = leaves[k].array();
      std::memcpy(outs[k] + i * scalar.element_bytes(), scalar.data(), static_cast<size_t>(scalar.bytes()));
    }
  }
  in_lanes_ = was_in_lanes;
  return {};
}

}  // namespace shoal::internal
