#include "execute/runtime/loop_function.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/ir/sizes.h"
#include "execute/interp/declared_shape.h"

namespace shoal::internal {
namespace {

Array OperandIn(const Shape& shape, void* slot) {
  return Array(shape.element_type(), ToDims(shape.dims()), Buffer::Borrow(static_cast<std::byte*>(slot), static_cast<size_t>(HostBytesOf(shape))));
}

Array ResultIn(const Shape& shape, void* slot) {
  return Array(shape.element_type(), ToDims(shape.dims()), Buffer::BorrowWritable(static_cast<std::byte*>(slot), static_cast<size_t>(HostBytesOf(shape))));
}

// The context of the callbacks of compiled code.
struct LoopCallbacks {
  RoutineEvaluator& evaluator;
  Status status = {};
  std::exception_ptr thrown = nullptr;  // kept here: exceptions cannot propagate through compiled code

  static bool Stop(void* context) { return static_cast<LoopCallbacks*>(context)->evaluator.device().world().stopped(); }

  static bool Evaluate(void* context, int64_t number, void* const* slots) {
    auto& self = *static_cast<LoopCallbacks*>(context);
    if (Stop(context)) return false;
    try {
      self.status = self.evaluator.Evaluate(static_cast<size_t>(number), slots);
      return self.status.ok();
    } catch (...) {
      self.thrown = std::current_exception();
      return false;
    }
  }
};

}  // namespace

LibraryCall::LibraryCall(const Instruction& hlo, const LoadedLibrary& library, void* const* slots) : hlo_(hlo), library_(library) {
  for (const Instruction* operand : hlo.operands) operands_.push_back(OperandIn(operand->shape(), slots[operands_.size()]));
  for (const Shape* leaf : LeafShapes(hlo.shape())) results_.push_back(ResultIn(*leaf, slots[operands_.size() + results_.size()]));
  slots_.assign(slots, slots + operands_.size() + results_.size());
  if (UpdatesOperand(hlo)) std::fill_n(operands_.begin(), results_.size(), Array());  // they are in the results' slots
}

Status LibraryCall::Run(ThreadPool& pool) {
  SHOAL_TRY(library_.Run(hlo_, operands_, results_, pool));
  for (size_t i = 0; i < results_.size(); ++i) {
    Array& result = results_[i];
    auto* const slot = static_cast<std::byte*>(slots_[operands_.size() + i]);
    if (std::as_const(result).data() == slot) continue;  // else the function replaced the array
    std::memcpy(slot, std::as_const(result).data(), static_cast<size_t>(result.bytes()));
    result = ResultIn(*LeafShapes(hlo_.shape())[i], slot);
  }
  return {};
}

Status RoutineEvaluator::Evaluate(size_t number, void* const* slots) {
  const LoadedLibrary& library = library_[number];
  if (library.IsNull()) return Interpret(*steps_[number], slots);
  if (library.prepared != nullptr) {
    library.prepared->Run(slots, device_.pool());
    return {};
  }
  std::unique_ptr<LibraryCall>& call = calls_[number];
  if (call == nullptr || !call->Uses(slots)) call = std::make_unique<LibraryCall>(*steps_[number]->hlo, library, slots);
  return call->Run(device_.pool());
}

Status RoutineEvaluator::Interpret(const EvalStep& step, void* const* slots) const {
  absl::InlinedVector<Value, 4> operands;
  for (const Instruction* operand : step.hlo->operands) operands.emplace_back(OperandIn(operand->shape(), *slots++));
  SHOAL_ASSIGN(value, device_.Evaluate(step, {operands.data(), operands.size()}));
  std::vector<Value> leaves;
  AppendLeaves(value, leaves);
  const auto declared = LeafShapes(step.hlo->shape());
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Array& leaf = leaves[i].array();
    if (leaf.count() != declared[i]->ElementCount()) return CheckDeclaredShape(*step.hlo, value);
    std::memcpy(*slots++, leaf.data(), static_cast<size_t>(leaf.bytes()));
  }
  return {};
}

std::vector<const EvalStep*> StepsOf(const ModulePlan& plans, std::span<const Instruction* const> instructions) {
  std::vector<const EvalStep*> found;
  for (const Instruction* hlo : instructions) {
    const std::vector<EvalStep>& steps = plans.Of(*hlo->parent).steps;
    const auto step = std::ranges::find_if(steps, [&](const EvalStep& each) { return each.hlo == hlo; });
    if (step == steps.end()) return {};
    found.push_back(&*step);
  }
  return found;
}

Status LoopFunctionRun::Run(std::span<void* const> slots, int64_t* iterations_seen) {
  Device& device = evaluator_.device();
  LoopCallbacks callbacks{evaluator_};
  const RoutineCalls calls{&LoopCallbacks::Stop, &LoopCallbacks::Evaluate, &callbacks};
  ++entered_;
  const int64_t earlier = counters_[1];
  int64_t iterations = 0;
  constexpr int64_t kFirstCheck = 1024, kSmallBytes = 1024;
  // Number of iterations between progress updates. Iterations with callbacks take longer.
  const int64_t max_per_call = routine_.evaluated.empty() ? int64_t{1} << 20 : 64;
  for (;;) {
    // The loop is endless if an iteration leaves its state unchanged. Iterations around 1024, 2048, 4096, … check
    // this: first for small arrays only, because most loops change one of these, then for all arrays.
    const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(iterations) + 1));
    const int64_t check = std::max(kFirstCheck, power);
    bool is_unchanged = true;
    while (iterations < check) {
      const int64_t max_bytes = iterations < check - 2 ? 0 : iterations == check - 2 ? kSmallBytes : INT64_MAX;
      const int64_t count = max_bytes > 0 ? 1 : std::min(check - 2 - iterations, max_per_call);
      std::vector<std::byte> before;
      if (max_bytes > 0 && is_unchanged) before = SmallStateBytes(slots, max_bytes);
      const int64_t code = code_(slots.data(), count, counters_.data(), &calls);
      if (callbacks.thrown != nullptr) std::rethrow_exception(callbacks.thrown);
      SHOAL_TRY(std::move(callbacks.status));
      if (code == 2) return ExecutionError(*routine_.loop, "the run was stopped");
      const int64_t now = counters_[1] - earlier;
      device.CountIteration(now - std::exchange(iterations, now));
      if (iterations_seen != nullptr) *iterations_seen = iterations;
      if (code == 1) return {};
      if (max_bytes == 0 || !is_unchanged) continue;
      is_unchanged = before == SmallStateBytes(slots, max_bytes);
      if (!is_unchanged || max_bytes == kSmallBytes) continue;
      device.endless_loops.insert(routine_.loop);
      return {};
    }
  }
}

// The contents of all arrays of the state that have at most `max_bytes` bytes.
std::vector<std::byte> LoopFunctionRun::SmallStateBytes(std::span<void* const> slots, int64_t max_bytes) const {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < routine_.state_slots; ++i) {
    const auto* data = static_cast<const std::byte*>(slots[i]);
    const int64_t size = BytesOf(routine_.slots[i]);
    if (size <= max_bytes) bytes.insert(bytes.end(), data, data + size);
  }
  return bytes;
}

void LoopFunctionRun::Count() const {
  CountLoop(evaluator_.device(), *routine_.loop, entered_, counters_[1]);
  CountStatements(evaluator_.device(), routine_, counters_);
}

void CountLoop(Device& device, const Instruction& loop, int64_t entered, int64_t iterations) {
  Device::LoopRuns& runs = device.loops[&loop];
  runs.entered += entered;
  runs.iterations += iterations;
}

void CountStatements(Device& device, const Routine& routine, std::span<const int64_t> counters) {
  for (const auto& block : routine.blocks) {
    for (const RoutineStatement& statement : block) {
      const int64_t* counts = counters.data() + statement.counter;
      if (statement.kind == RoutineStatement::Kind::kWhile) {
        CountLoop(device, *statement.hlo, counts[0], counts[1]);
        device.CountIteration(counts[1]);
        if (counts[2] > 0) device.endless_loops.insert(statement.hlo);
      } else if (statement.kind == RoutineStatement::Kind::kBranch) {
        std::vector<int64_t>& taken = device.branches[statement.hlo];
        taken.resize(statement.blocks.size());
        for (size_t i = 0; i < taken.size(); ++i) taken[i] += counts[i];
      }
    }
  }
}

void* ConstantData(const RoutineSlot& slot) {
  return const_cast<std::byte*>(slot.generated != nullptr ? slot.generated->data() : slot.constant->data.data());
}

void TakeLeaves(Value value, std::vector<Array>& leaves) {
  if (value.IsArray()) {
    leaves.push_back(std::move(value.array()));
    return;
  }
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) TakeLeaves(value.TakeElement(i), leaves);
}

bool FitSlots(const Routine& routine, std::span<const Value> leaves) {
  for (size_t i = 0; i < leaves.size(); ++i)
    if (!leaves[i].IsArray() || leaves[i].array().count() != routine.slots[i].count ||
        leaves[i].array().type() != routine.slots[i].type)
      return false;
  return true;
}

}  // namespace shoal::internal
