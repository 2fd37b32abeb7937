#include <algorithm>
#include <queue>

#include "analyze/memory/timeline.h"
#include "core/ir/buffer_bytes.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Ops that make no array of their own: what they hand on is counted where it was made.
bool MakesNoArray(const Instruction& hlo) {
  constexpr Forwarding kHandOn = Forwarding::kSame | Forwarding::kAddDependency | Forwarding::kBitcast | Forwarding::kReshaped | Forwarding::kTupleElement |
                            Forwarding::kTuple | Forwarding::kArgument;
  return IsConstant(hlo) || (Has(kHandOn, ForwardingOf(hlo)) && !IsCustomCall(hlo));
}

// Ops that need nothing and are cheap to put off: they run right before their first user, who would have to wait for
// them anyway.
bool IsLazy(const Instruction& hlo) {
  if (&hlo == hlo.parent->root || hlo.has(kControlPredecessors)) return false;
  return IsRematerializable(hlo);
}

class ListScheduler {
 public:
  explicit ListScheduler(const Computation& computation) : computation_(computation) {
    const size_t count = computation.instructions.size();
    state_.resize(count + 1);  // one more: where the last list of before_ ends
    for (uint32_t index = 0; index < count; ++index) {
      const Instruction& hlo = *computation.instructions[index];
      if (!MakesNoArray(hlo)) state_[index].bytes = ArrayBytes(hlo.shape());
      AddBefore(hlo);
      state_[index + 1].first = before_.size();
      state_[index].is_lazy = IsLazy(hlo);
      for (uint32_t before : Before(index)) {
        ++state_[before].users;
        state_[before].user_sum += index;
        followers_.push_back({before, index});
      }
    }
    // Nobody waits for what is lazy, whatever the order of the text.
    for (uint32_t index = 0; index < count; ++index)
      for (uint32_t before : Before(index))
        if (!state_[before].is_lazy) ++state_[index].waits_for;
    std::sort(followers_.begin(), followers_.end());
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
    // Only a circle, which loose text can have, keeps anything waiting.
    for (uint32_t index = 0; index < computation_.instructions.size(); ++index)
      if (!state_[index].done) order.push_back(computation_.instructions[index]);
    return order;
  }

 private:
  struct State {
    int64_t bytes = 0;
    int64_t users = 0;      // that have not run
    uint64_t user_sum = 0;  // of their numbers: the number of the last one when it is alone
    int64_t waits_for = 0;
    size_t first = 0;  // of its list in before_
    bool is_lazy = false, done = false;
  };

  void AddBefore(const Instruction& hlo) {
    const auto first = static_cast<std::ptrdiff_t>(before_.size());
    auto add = [&](const Instruction* before) {
      if (before != nullptr && before->parent == &computation_ && before != &hlo) before_.push_back(before->index);
    };
    std::for_each(hlo.operands.begin(), hlo.operands.end(), add);
    const Instructions controls = hlo[kControlPredecessors];
    std::for_each(controls.begin(), controls.end(), add);
    std::sort(before_.begin() + first, before_.end());
    before_.erase(std::unique(before_.begin() + first, before_.end()), before_.end());
  }

  // Numbers of the instructions that must run before number `index`, each once.
  std::span<const uint32_t> Before(uint32_t index) const {
    return std::span(before_).subspan(state_[index].first, state_[index + 1].first - state_[index].first);
  }

  // What the instruction needs and nobody has needed yet. Lazy ops need at most one other.
  void RunLazy(uint32_t index, std::vector<const Instruction*>& order) {
    for (uint32_t before : Before(index)) {
      if (!state_[before].is_lazy || state_[before].done) continue;
      state_[before].done = true;  // first: loose text can have circles
      RunLazy(before, order);
      order.push_back(computation_.instructions[before]);
      Finish(before);
    }
  }

  // Bytes that are free after the instruction, less those it takes.
  int64_t Gain(uint32_t index) const {
    int64_t gain = -state_[index].bytes;
    for (uint32_t before : Before(index)) {
      if (state_[before].is_lazy && !state_[before].done) gain -= state_[before].bytes;
      if (state_[before].users == 1) gain += state_[before].bytes;
    }
    return gain;
  }

  void Push(uint32_t index) { ready_.push({Gain(index), -static_cast<int64_t>(index)}); }

  void Finish(uint32_t index) {
    state_[index].done = true;
    for (uint32_t before : Before(index)) {
      State& state = state_[before];
      state.user_sum -= index;
      if (--state.users != 1) continue;
      const auto last = static_cast<uint32_t>(state.user_sum);
      if (state_[last].waits_for == 0 && !state_[last].done && !state_[last].is_lazy) Push(last);
    }
    auto follower = std::lower_bound(followers_.begin(), followers_.end(), std::pair<uint32_t, uint32_t>(index, 0));
    for (; follower != followers_.end() && follower->first == index && !state_[index].is_lazy; ++follower)
      if (--state_[follower->second].waits_for == 0 && !state_[follower->second].is_lazy) Push(follower->second);
  }

  const Computation& computation_;
  std::vector<State> state_;
  std::vector<uint32_t> before_;
  std::vector<std::pair<uint32_t, uint32_t>> followers_;
  std::priority_queue<std::pair<int64_t, int64_t>> ready_;
};

}  // namespace

std::vector<const Instruction*> ListSchedule(const Computation& computation) {
  return ListScheduler(computation).Run();
}

}  // namespace shoal::internal
