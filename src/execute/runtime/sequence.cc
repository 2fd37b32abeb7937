#include "execute/runtime/sequence.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace shoal::internal {
namespace {

// The environment variable SHOAL_CHECK_PLAN=1 gives every slot memory of its own, to find errors in their sharing.
bool SharesMemory() {
  const char* check = std::getenv("SHOAL_CHECK_PLAN");
  return check == nullptr || std::strcmp(check, "1") != 0;
}

}  // namespace

// An execution of a loop.
struct LoopExecution {
  int64_t iterations = 0;
  bool is_compared = false;
  std::vector<std::byte> before;  // the state before the current iteration, if it is compared
};

// One run of a sequence.
class SequenceRun {
 public:
  SequenceRun(const SequenceCode& code, Device& device, std::span<void* const> state)
      : code_(code),
        device_(device),
        evaluator_(device, code.evaluated_, code.code_.library),
        memory_(ElementType::kU8, Dims{code.plan_.bytes}),
        slots_(state.begin(), state.end()),
        counters_(code.sequence_.counters, 0),
        loops_(code.plan_.loops.size()) {
    const Routine& sequence = code.sequence_;
    slots_.resize(sequence.slots.size());
    std::byte* const memory = memory_.mutable_data();
    for (size_t i = state.size(); i < slots_.size(); ++i) {
      const int64_t offset = code.plan_.offsets[i];
      if (sequence.slots[i].constant != nullptr)
        slots_[i] = ConstantData(sequence.slots[i]);
      else if (offset >= 0)
        slots_[i] = memory + offset;
    }
    buffers_.reserve(code.plan_.operands.size());
    for (int slot : code.plan_.operands) buffers_.push_back(slots_[static_cast<size_t>(slot)]);
    for (size_t i = 0; i < sequence.routines.size(); ++i)
      functions_.emplace_back(*sequence.routines[i], code.code_.functions[i], device, code.function_evaluated_[i]);
    if (sequence.loop != nullptr) iterations_ = &device.control_flow_state().iterations[sequence.loop];
  }

  Status Run() {
    const SequenceCode::Step* const steps = code_.steps_.data();
    const size_t end = code_.steps_.size();
    for (size_t pc = 0; pc < end;) {
      const SequenceCode::Step& step = steps[pc++];
      void* const* buffers = buffers_.data() + step.first;
      switch (step.kind) {
        case Kind::kKernel:
          if (step.runs_in_tasks)
            code_.launches_[step.number].Run(buffers, device_.pool());
          else
            step.code(buffers, 0, step.rows, 0, step.lanes);
          break;
        case Kind::kCopy: std::memcpy(buffers[1], buffers[0], static_cast<size_t>(step.lanes)); break;
        case Kind::kEvaluate: SHOAL_TRY(evaluator_.Evaluate(step.number, buffers)); break;
        case Kind::kRoutine: SHOAL_TRY(RunFunction(step.number, buffers)); break;
        case Kind::kEnter:
          loops_[step.number].iterations = 0;
          ++counters_[code_.plan_.loops[step.number].counter];
          break;
        case Kind::kTest:
          if (!*static_cast<const bool*>(buffers[0]))
            pc = step.target;
          else
            SHOAL_TRY(BeginIteration(step.number));
          break;
        case Kind::kRepeat: pc = EndIteration(step.number); break;
        case Kind::kBranch: pc = Choose(code_.plan_.branches[step.number], buffers[0]); break;
        case Kind::kJump: pc = step.target; break;
      }
    }
    Count();
    return {};
  }

 private:
  using Kind = SequenceStep::Kind;

  Status RunFunction(size_t number, void* const* state) {
    const Routine& routine = *code_.sequence_.routines[number];
    absl::InlinedVector<void*, 32> slots(state, state + routine.state_slots);
    for (int slot : routine.constants) slots.push_back(ConstantData(routine.slots[static_cast<size_t>(slot)]));
    return functions_[number].Run({slots.data(), slots.size()}, nullptr);
  }

  Status BeginIteration(size_t number) {
    const SequencePlan::Loop& loop = code_.plan_.loops[number];
    LoopExecution& execution = loops_[number];
    const int64_t iteration = ++execution.iterations;
    ++counters_[loop.counter + 1];
    if (device_.world().stopped()) return ExecutionError(*loop.hlo, "the run was stopped");
    if (number == 0 && iterations_ != nullptr) {
      *iterations_ = iteration;
      device_.CountIteration();
    }
    // The loop is endless if an iteration leaves its state unchanged. Iterations 1024, 2048, 4096, … check this.
    execution.is_compared = iteration >= 1024 && std::has_single_bit(static_cast<uint64_t>(iteration));
    if (execution.is_compared) execution.before = StateBytes(loop);
    return {};
  }

  // Returns the next step.
  size_t EndIteration(size_t number) {
    const SequencePlan::Loop& loop = code_.plan_.loops[number];
    LoopExecution& execution = loops_[number];
    if (!execution.is_compared || StateBytes(loop) != execution.before) return loop.head;
    ++counters_[loop.counter + 2];
    return loop.end;
  }

  std::vector<std::byte> StateBytes(const SequencePlan::Loop& loop) const {
    std::vector<std::byte> bytes;
    for (int slot : loop.state) {
      const auto* data = static_cast<const std::byte*>(slots_[static_cast<size_t>(slot)]);
      bytes.insert(bytes.end(), data, data + BytesOf(code_.sequence_.slots[static_cast<size_t>(slot)]));
    }
    return bytes;
  }

  // Returns the first step of the branch. An out-of-range index selects the last one.
  size_t Choose(const SequencePlan::Branch& branch, const void* selector) {
    const size_t last = branch.targets.size() - 1;
    size_t chosen = last;
    if (branch.is_predicate) {
      if (*static_cast<const bool*>(selector)) chosen = 0;
    } else {
      int32_t index = 0;
      std::memcpy(&index, selector, sizeof(index));
      if (index >= 0 && static_cast<size_t>(index) < last) chosen = static_cast<size_t>(index);
    }
    ++counters_[branch.counter + chosen];
    return branch.targets[chosen];
  }

  void Count() const {
    const Routine& sequence = code_.sequence_;
    if (sequence.loop != nullptr) {
      CountLoop(device_, *sequence.loop, counters_[0], counters_[1]);
      if (counters_[2] > 0) device_.endless_loops.insert(sequence.loop);
    }
    CountStatements(device_, sequence, counters_);
    for (const LoopFunctionRun& function : functions_) function.Count();
  }

  const SequenceCode& code_;
  Device& device_;
  RoutineEvaluator evaluator_;
  Array memory_;
  std::vector<void*> slots_;    // the memory of each slot
  std::vector<void*> buffers_;  // the memory of each operand of the steps
  std::vector<int64_t> counters_;
  std::vector<LoopExecution> loops_;
  std::vector<LoopFunctionRun> functions_;
  int64_t* iterations_ = nullptr;  // where the device's position is read, for the loop itself
};

SequenceCode::SequenceCode(const Routine& sequence, LoadedSequence code)
    : sequence_(sequence), code_(std::move(code)), plan_(PlanSequence(sequence, SharesMemory())) {
  for (const LoadedKernel& kernel : code_.kernels) launches_.emplace_back(kernel);
  for (const SequenceStep& planned : plan_.steps) {
    Step step{planned.kind, false, static_cast<uint32_t>(planned.number), static_cast<uint32_t>(planned.target), static_cast<uint32_t>(planned.first)};
    if (planned.kind == SequenceStep::Kind::kKernel) {
      const LoadedKernel& loaded = code_.kernels[planned.number];
      step.runs_in_tasks = launches_[planned.number].Blocks() > 1;
      step.code = loaded.code;
      step.rows = loaded.kernel->RowCount();
      step.lanes = loaded.kernel->inner_loops.back();
    } else if (planned.kind == SequenceStep::Kind::kCopy) {
      step.lanes = BytesOf(sequence.slots[static_cast<size_t>(plan_.operands[planned.first])]);
    } else if (planned.kind == SequenceStep::Kind::kTest) {
      step.target = static_cast<uint32_t>(plan_.loops[planned.number].end);
    }
    steps_.push_back(step);
  }
}

bool SequenceCode::IsPlanned(const ModulePlan& plans) const {
  std::call_once(once_, [&] {
    evaluated_ = StepsOf(plans, sequence_.evaluated);
    is_planned_ = evaluated_.size() == sequence_.evaluated.size();
    for (const auto& function : sequence_.routines) {
      function_evaluated_.push_back(StepsOf(plans, function->evaluated));
      is_planned_ = is_planned_ && function_evaluated_.back().size() == function->evaluated.size();
    }
  });
  return is_planned_;
}

Status SequenceCode::Run(Device& device, std::span<void* const> state) const { return SequenceRun(*this, device, state).Run(); }

}  // namespace shoal::internal
