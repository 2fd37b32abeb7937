#include <algorithm>
#include <queue>

#include "analyze/memory/timeline.h"
#include "core/ir/buffer_bytes.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// True for ops that do not allocate an array. Forwarded values are counted at their definition.
bool MakesNoArray(const Instruction& hlo) {
  constexpr Forwarding kForwards = Forwarding::kSame | Forwarding::kAddDependency | Forwarding::kBitcast |
                                   Forwarding::kReshaped | Forwarding::kTupleElement | Forwarding::kTuple |
                                   Forwarding::kArgument;
  return IsConstant(hlo) || (Has(kForwards, ForwardingOf(hlo)) && !IsCustomCall(hlo));
}

// True for ops that are cheap to delay because they need almost no operands. They run right before their first user.
bool IsLazy(const Instruction& hlo) {
  if (&hlo == hlo.parent->root || hlo.has(kControlPredecessors)) return false;
  return IsRematerializable(hlo);
}

class ListScheduler {
 public:
  explicit ListScheduler(const Computation& computation) : computation_(computation) {
    const size_t count = computation.instructions.size();
    state_.resize(count + 1);  // the extra entry has the end of the last list in predecessors_
    for (uint32_t index = 0; index < count; ++index) {
      const Instruction& hlo = *computation.instructions[index];
      if (!MakesNoArray(hlo)) state_[index].bytes = ArrayBytes(hlo.shape());
      AddPredecessors(hlo);
      state_[index + 1].first = predecessors_.size();
      state_[index].is_lazy = IsLazy(hlo);
      for (uint32_t before : Predecessors(index)) {
        ++state_[before].users;
        state_[before].user_sum += index;
        successors_.push_back({before, index});
      }
    }
    // Other ops never wait for lazy ops, so the text order of lazy ops has no effect.
    for (uint32_t index = 0; index < count; ++index)
      for (uint32_t before : Predecessors(index))
        if (!state_[before].is_lazy) ++state_[index].waits_for;
    std::sort(successors_.begin(), successors_.end());
  }

  std::vector<const Instruction*> Run() {
    for (uint32_t index = 0; index < computation_.instructions.size(); ++index)
      if (state_[index].waits_for == 0 && !state_[index].is_lazy) Push(index);
    std::vector<const Instruction*> order;
    while (!ready_.empty()) {
      const auto [gain, minus_index] = ready_.top();
      ready_.pop();
      const auto index = static_cast<uint32_t>(-minus_index);
      if (state_[index].done) continue;
      if (gain != Gain(index)) {
        Push(index);
        continue;
      }
      RunLazy(index, order);
      order.push_back(computation_.instructions[index]);
      Finish(index);
    }
    // If instructions remain, they are in a cycle. Loose text may contain cycles.
    for (uint32_t index = 0; index < computation_.instructions.size(); ++index)
      if (!state_[index].done) order.push_back(computation_.instructions[index]);
    return order;
  }

 private:
  struct State {
    int64_t bytes = 0;
    int64_t users = 0;      // number of users that have not run
    uint64_t user_sum = 0;  // sum of the indices of these users; identifies the last remaining user
    int64_t waits_for = 0;  // number of predecessors that have not run
    size_t first = 0;       // start of the instruction's list in predecessors_
    bool is_lazy = false, done = false;
  };

  void AddPredecessors(const Instruction& hlo) {
    const auto first = static_cast<std::ptrdiff_t>(predecessors_.size());
    auto add = [&](const Instruction* before) {
      if (before == nullptr || before->parent != &computation_ || before == &hlo) return;
      predecessors_.push_back(before->index);
    };
    std::for_each(hlo.operands.begin(), hlo.operands.end(), add);
    const Instructions controls = hlo[kControlPredecessors];
    std::for_each(controls.begin(), controls.end(), add);
    std::sort(predecessors_.begin() + first, predecessors_.end());
    predecessors_.erase(std::unique(predecessors_.begin() + first, predecessors_.end()), predecessors_.end());
  }

  // The indices of the instructions that must run before `index`, without duplicates.
  std::span<const uint32_t> Predecessors(uint32_t index) const {
    return std::span(predecessors_).subspan(state_[index].first, state_[index + 1].first - state_[index].first);
  }

  // Runs the lazy predecessors of `index` that have not run yet. A lazy op has at most one predecessor itself.
  void RunLazy(uint32_t index, std::vector<const Instruction*>& order) {
    for (uint32_t before : Predecessors(index)) {
      if (!state_[before].is_lazy || state_[before].done) continue;
      state_[before].done = true;  // set first, since loose text may contain cycles
      RunLazy(before, order);
      order.push_back(computation_.instructions[before]);
      Finish(before);
    }
  }

  // The bytes that the instruction frees, minus the bytes that it allocates.
  int64_t Gain(uint32_t index) const {
    int64_t gain = -state_[index].bytes;
    for (uint32_t before : Predecessors(index)) {
      if (state_[before].is_lazy && !state_[before].done) gain -= state_[before].bytes;
      if (state_[before].users == 1) gain += state_[before].bytes;
    }
    return gain;
  }

  void Push(uint32_t index) { ready_.push({Gain(index), -static_cast<int64_t>(index)}); }

  void Finish(uint32_t index) {
    state_[index].done = true;
    for (uint32_t before : Predecessors(index)) {
      State& state = state_[before];
      state.user_sum -= index;
      if (--state.users != 1) continue;
      const auto last = static_cast<uint32_t>(state.user_sum);
      if (state_[last].waits_for == 0 && !state_[last].done && !state_[last].is_lazy) Push(last);
    }
    auto successor = std::lower_bound(successors_.begin(), successors_.end(), std::pair<uint32_t, uint32_t>(index, 0));
    for (; successor != successors_.end() && successor->first == index && !state_[index].is_lazy; ++successor)
      if (--state_[successor->second].waits_for == 0 && !state_[successor->second].is_lazy) Push(successor->second);
  }

  const Computation& computation_;
  std::vector<State> state_;
  std::vector<uint32_t> predecessors_;
  std::vector<std::pair<uint32_t, uint32_t>> successors_;
  std::priority_queue<std::pair<int64_t, int64_t>> ready_;
};

}  // namespace

std::vector<const Instruction*> ListSchedule(const Computation& computation) {
  return ListScheduler(computation).Run();
}

}  // namespace shoal::internal
