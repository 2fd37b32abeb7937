// A loop that is one piece of code.
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

// Null where nobody asks for what the instruction gives.
const EvalStep* StepOf(const ModulePlan& plans, const Instruction& hlo) {
  const std::vector<EvalStep>& steps = plans.Of(*hlo.parent).steps;
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const EvalStep& step) { return step.hlo == &hlo; });
  return found == steps.end() ? nullptr : &*found;
}

// What the code asks for while it runs.
struct Rounds {
  Device& device;
  std::span<const EvalStep* const> steps;  // that it does not compute itself
  Status status = {};
  std::exception_ptr thrown = nullptr;  // which cannot go through the code

  static bool Stop(void* rounds) { return static_cast<Rounds*>(rounds)->device.world().stopped(); }

  static bool Evaluate(void* rounds, int64_t number, void* const* slots) {
    auto& self = *static_cast<Rounds*>(rounds);
    if (Stop(rounds)) return false;
    try {
      self.status = self.Evaluate(*self.steps[static_cast<size_t>(number)], slots);
      return self.status.ok();
    } catch (...) {
      self.thrown = std::current_exception();
      return false;
    }
  }

  // The operands where they lie; the results are copied to where they belong.
  Status Evaluate(const EvalStep& step, void* const* slots) const {
    absl::InlinedVector<Value, 4> operands;
    for (const Instruction* operand : step.hlo->operands) {
      const Shape& shape = operand->shape();
      const auto bytes = static_cast<size_t>(*shape.ElementCount() * StorageBytes(shape.element_type()));
      operands.emplace_back(Array(shape.element_type(), ToDims(shape.dims()), Buffer::Borrow(static_cast<std::byte*>(*slots++), bytes)));
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

class RoutineStep : public Thunk {
 public:
  RoutineStep(const Routine& routine, RoutineCode code, ThreadPool& pool) : routine_(routine), code_(code), pool_(pool) {}

  Result<Value> Run(Call& call) const override {
    const RunSettings& settings = call.device.settings();
    std::vector<const EvalStep*> steps;
    for (const Instruction* hlo : routine_.evaluated) steps.push_back(StepOf(call.device.plans(), *hlo));
    // Who watches or counts steps sees each of them.
    if (ValueObserverOf(settings) != nullptr || settings.max_instructions > 0 || !Fits(call.operands[0]) ||
        std::find(steps.begin(), steps.end(), nullptr) != steps.end())
      return EvaluatorOf(call.hlo.opcode)(call);
    std::vector<Array> state;
    Take(std::move(call.operands[0]), state);
    std::vector<void*> slots;
    for (size_t i = 0; i < state.size(); ++i) {
      if (routine_.written[i]) state[i] = MakeUnique(std::move(state[i]), pool_);
      slots.push_back(routine_.written[i] ? state[i].mutable_data() : const_cast<std::byte*>(std::as_const(state[i]).data()));
    }
    for (int slot : routine_.constants) {
      const RoutineSlot& constant = routine_.slots[static_cast<size_t>(slot)];
      slots.push_back(const_cast<std::byte*>(constant.made_up != nullptr ? constant.made_up->data() : constant.constant->data.data()));
    }
    std::vector<int64_t> counters(routine_.counters, 0);
    SHOAL_TRY(RunRounds(call, steps, state, slots, counters));
    Count(call.device, counters);
    size_t next = 0;
    const std::vector<Value> leaves(std::make_move_iterator(state.begin()), std::make_move_iterator(state.end()));
    return FromLeaves(call.hlo.shape(), leaves, next);
  }

 private:
  // Arrays of the sizes the code was made for; dynamic dimensions may have made others.
  bool Fits(const Value& value) const {
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

  Status RunRounds(Call& call, std::span<const EvalStep* const> steps, std::span<const Array> state,
                   std::span<void* const> slots, std::vector<int64_t>& counters) const {
    Rounds asked{call.device, steps};
    const RoutineCalls calls{&Rounds::Stop, &Rounds::Evaluate, &asked};
    int64_t& rounds = call.device.control_flow_state().iterations[&call.hlo];
    rounds = 0;
    constexpr int64_t kFirstLook = 1024, kSmallBytes = 1024;
    // Between two times that whoever waits can see how far it is; rounds with calls in them take longer.
    const int64_t max_at_once = routine_.evaluated.empty() ? int64_t{1} << 20 : 64;
    for (;;) {
      // A round that gives the state it began with is followed by no other: looked at now and then, first at what is
      // small, which most loops change.
      const auto look = std::max<int64_t>(kFirstLook, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rounds) + 1)));
      bool is_same = true;
      while (rounds < look) {
        const int64_t limit = rounds < look - 2 ? 0 : rounds == look - 2 ? kSmallBytes : INT64_MAX;
        const int64_t most = limit > 0 ? 1 : std::min(look - 2 - rounds, max_at_once);
        std::vector<std::byte> before;
        if (limit > 0 && is_same) before = SmallArrayBytes(state, slots, limit);
        const int64_t code = code_(slots.data(), most, counters.data(), &calls);
        if (asked.thrown != nullptr) std::rethrow_exception(asked.thrown);
        SHOAL_TRY(std::move(asked.status));
        if (code == 2) return ExecutionError(call.hlo, "the run was stopped");
        call.device.CountIteration(counters[1] - std::exchange(rounds, counters[1]));
        if (code == 1) return {};
        if (limit == 0 || !is_same) continue;
        is_same = before == SmallArrayBytes(state, slots, limit);
        if (!is_same || limit == kSmallBytes) continue;
        call.device.endless_loops.insert(&call.hlo);
        return {};
      }
    }
  }

  // Of the arrays of up to `most` bytes.
  static std::vector<std::byte> SmallArrayBytes(std::span<const Array> state, std::span<void* const> slots, int64_t most) {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < state.size(); ++i) {
      const auto* data = static_cast<const std::byte*>(slots[i]);
      if (state[i].bytes() <= most) bytes.insert(bytes.end(), data, data + state[i].bytes());
    }
    return bytes;
  }

  // How often everything ran, as a run step by step counts it.
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
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Thunk> NewRoutineStep(const Routine& routine, RoutineCode code, ThreadPool& pool) {
  return std::make_unique<RoutineStep>(routine, code, pool);
}

}  // namespace shoal::internal
