// Runs a whole loop as one compiled function.
#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <utility>

#include "core/ops/families.h"
#include "execute/interp/declared_shape.h"
#include "execute/interp/step_log.h"
#include "execute/runtime/thunks.h"
#include "kernels/arrays/parallel_copy.h"

namespace shoal::internal {
namespace {

// Returns the step that evaluates the instruction; null if its value is unused.
const EvalStep* StepOf(const ModulePlan& plans, const Instruction& hlo) {
  const std::vector<EvalStep>& steps = plans.Of(*hlo.parent).steps;
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const EvalStep& step) { return step.hlo == &hlo; });
  return found == steps.end() ? nullptr : &*found;
}

struct LoopCallbacks {
  Device& device;
  std::span<const EvalStep* const> steps;  // steps that the compiled code does not compute itself
  Status status = {};
  std::exception_ptr thrown = nullptr;  // kept here: exceptions cannot propagate through compiled code

  static bool Stop(void* context) { return static_cast<LoopCallbacks*>(context)->device.world().stopped(); }

  static bool Evaluate(void* context, int64_t number, void* const* slots) {
    auto& self = *static_cast<LoopCallbacks*>(context);
    if (Stop(context)) return false;
    try {
      self.status = self.Evaluate(*self.steps[static_cast<size_t>(number)], slots);
      return self.status.ok();
    } catch (...) {
      self.thrown = std::current_exception();
      return false;
    }
  }

  // Reads the operands in place and copies the results into their slots.
  Status Evaluate(const EvalStep& step, void* const* slots) const {
    absl::InlinedVector<Value, 4> operands;
    for (const Instruction* operand : step.hlo->operands) {
      const Shape& shape = operand->shape();
      const auto bytes = static_cast<size_t>(*shape.ElementCount() * StorageBytes(shape.element_type()));
      auto data = Buffer::Borrow(static_cast<std::byte*>(*slots++), bytes);
      operands.emplace_back(Array(shape.element_type(), ToDims(shape.dims()), std::move(data)));
    }
    SHOAL_ASSIGN(value, device.Evaluate(step, {operands.data(), operands.size()}));
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
};

class LoopThunk : public Thunk {
 public:
  LoopThunk(const Routine& routine, RoutineCode code) : routine_(routine), code_(code) {}

  Result<Value> Run(Call& call) const override {
    const RunSettings& settings = call.device.settings();
    std::vector<const EvalStep*> steps;
    for (const Instruction* hlo : routine_.evaluated) steps.push_back(StepOf(call.device.plans(), *hlo));
    // Evaluates step by step if values are observed or instructions are counted.
    if (ValueObserverOf(settings) != nullptr || settings.max_instructions > 0 || !Matches(call.operands[0]) ||
        std::find(steps.begin(), steps.end(), nullptr) != steps.end())
      return EvaluatorOf(call.hlo.opcode)(call);
    std::vector<Array> state;
    Take(std::move(call.operands[0]), state);
    std::vector<void*> slots;
    for (size_t i = 0; i < state.size(); ++i) {
      if (routine_.written[i]) state[i] = MakeUnique(std::move(state[i]), call.device.pool());
      const std::byte* data = routine_.written[i] ? state[i].mutable_data() : std::as_const(state[i]).data();
      slots.push_back(const_cast<std::byte*>(data));
    }
    for (int slot : routine_.constants) {
      const RoutineSlot& constant = routine_.slots[static_cast<size_t>(slot)];
      const std::byte* data = constant.generated != nullptr ? constant.generated->data() : constant.constant->data.data();
      slots.push_back(const_cast<std::byte*>(data));
    }
    std::vector<int64_t> counters(routine_.counters, 0);
    SHOAL_TRY(RunIterations(call, steps, state, slots, counters));
    Count(call.device, counters);
    size_t next = 0;
    const std::vector<Value> leaves(std::make_move_iterator(state.begin()), std::make_move_iterator(state.end()));
    return FromLeaves(call.hlo.shape(), leaves, next);
  }

 private:
  // True if the arrays have the compiled sizes. Dynamic dimensions may have others.
  bool Matches(const Value& value) const {
    std::vector<Value> leaves;
    AppendLeaves(value, leaves);
    if (leaves.size() != routine_.state_slots) return false;
    for (size_t i = 0; i < leaves.size(); ++i)
      if (!leaves[i].IsArray() || leaves[i].array().count() != routine_.slots[i].count ||
          leaves[i].array().type() != routine_.slots[i].type)
        return false;
    return true;
  }

  static void Take(Value value, std::vector<Array>& leaves) {
    if (value.IsArray()) {
      leaves.push_back(std::move(value.array()));
      return;
    }
    for (int64_t i = 0; i < std::ssize(value.elements()); ++i) Take(value.TakeElement(i), leaves);
  }

  Status RunIterations(Call& call, std::span<const EvalStep* const> steps, std::span<const Array> state,
                       std::span<void* const> slots, std::vector<int64_t>& counters) const {
    LoopCallbacks callbacks{call.device, steps};
    const RoutineCalls calls{&LoopCallbacks::Stop, &LoopCallbacks::Evaluate, &callbacks};
    int64_t& iterations = call.device.control_flow_state().iterations[&call.hlo];
    iterations = 0;
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
        if (max_bytes > 0 && is_unchanged) before = SmallArrayBytes(state, slots, max_bytes);
        const int64_t code = code_(slots.data(), count, counters.data(), &calls);
        if (callbacks.thrown != nullptr) std::rethrow_exception(callbacks.thrown);
        SHOAL_TRY(std::move(callbacks.status));
        if (code == 2) return ExecutionError(call.hlo, "the run was stopped");
        call.device.CountIteration(counters[1] - std::exchange(iterations, counters[1]));
        if (code == 1) return {};
        if (max_bytes == 0 || !is_unchanged) continue;
        is_unchanged = before == SmallArrayBytes(state, slots, max_bytes);
        if (!is_unchanged || max_bytes == kSmallBytes) continue;
        call.device.endless_loops.insert(&call.hlo);
        return {};
      }
    }
  }

  // Returns the contents of all arrays of at most `max_bytes` bytes.
  static std::vector<std::byte> SmallArrayBytes(std::span<const Array> state, std::span<void* const> slots,
                                                int64_t max_bytes) {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < state.size(); ++i) {
      const auto* data = static_cast<const std::byte*>(slots[i]);
      if (state[i].bytes() <= max_bytes) bytes.insert(bytes.end(), data, data + state[i].bytes());
    }
    return bytes;
  }

  // Adds the same execution counts as step-by-step evaluation would.
  void Count(Device& device, const std::vector<int64_t>& counters) const {
    Device::LoopRuns& runs = device.loops[routine_.loop];
    ++runs.entered;
    runs.iterations += counters[1];
    for (const auto& block : routine_.blocks) {
      for (const RoutineStatement& statement : block) {
        if (statement.kind == RoutineStatement::Kind::kWhile) {
          Device::LoopRuns& inner = device.loops[statement.hlo];
          inner.entered += counters[statement.counter];
          inner.iterations += counters[statement.counter + 1];
          device.CountIteration(counters[statement.counter + 1]);
          if (counters[statement.counter + 2] > 0) device.endless_loops.insert(statement.hlo);
        } else if (statement.kind == RoutineStatement::Kind::kBranch) {
          std::vector<int64_t>& taken = device.branches[statement.hlo];
          taken.resize(statement.blocks.size());
          for (size_t i = 0; i < taken.size(); ++i) taken[i] += counters[statement.counter + i];
        }
      }
    }
  }

  const Routine& routine_;
  RoutineCode code_;
};

}  // namespace

std::unique_ptr<Thunk> NewLoopThunk(const Routine& routine, RoutineCode code) {
  return std::make_unique<LoopThunk>(routine, code);
}

}  // namespace shoal::internal
