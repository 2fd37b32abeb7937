// An op that writes in place (dynamic-update-slice, scatter) has to copy its operand if somebody reads it afterwards. So
// readers go first, wherever the order of the computation leaves that open.
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/ir/rewrite.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool WritesInPlace(const Instruction& hlo) {
  return IsDynamicUpdateSlice(hlo) || IsScatter(hlo);
}

class Ordering {
 public:
  explicit Ordering(Computation& computation) : computation_(computation) {}

  // In the order there was, but that a writer waits for the readers of what it writes as long as anything else can run.
  bool Run() {
    auto& all = computation_.instructions;
    users_.resize(all.size());
    missing_.resize(all.size());
    for (Instruction* hlo : all) {
      for (Instruction* operand : hlo->operands) AddEdge(*operand, *hlo);
      for (Instruction* before : (*hlo)[kControlPredecessors]) AddEdge(*before, *hlo);
    }
    for (Instruction* hlo : all)
      if (missing_[hlo->index] == 0) ready_.push(hlo);
    std::vector<Instruction*> order;
    std::vector<Instruction*> waiting;  // writers whose operand has readers left
    placed_.assign(all.size(), false);
    while (order.size() < all.size()) {
      if (ready_.empty()) {
        if (waiting.empty()) return false;
        Place(waiting.front(), order);
        waiting.erase(waiting.begin());
      } else {
        Instruction* hlo = ready_.top();
        ready_.pop();
        if (HasReaders(*hlo))
          waiting.push_back(hlo);
        else
          Place(hlo, order);
      }
      // Those whose last reader has run.
      for (size_t i = 0; i < waiting.size();) {
        if (HasReaders(*waiting[i])) {
          ++i;
        } else {
          ready_.push(waiting[i]);
          waiting.erase(waiting.begin() + static_cast<int64_t>(i));
        }
      }
    }
    if (order == all) return false;
    all = std::move(order);
    computation_.as_written.clear();
    for (size_t i = 0; i < all.size(); ++i) all[i]->index = static_cast<uint32_t>(i);
    return true;
  }

 private:
  struct ByDescendingIndex {
    bool operator()(const Instruction* a, const Instruction* b) const { return a->index > b->index; }
  };

  void AddEdge(Instruction& from, Instruction& to) {
    users_[from.index].push_back(&to);
    ++missing_[to.index];
  }

  bool HasReaders(const Instruction& hlo) const {
    if (!WritesInPlace(hlo)) return false;
    for (const Instruction* user : users_[hlo.operands[0]->index])
      if (user != &hlo && !placed_[user->index] && !WritesInPlace(*user)) return true;
    return false;
  }

  void Place(Instruction* hlo, std::vector<Instruction*>& order) {
    order.push_back(hlo);
    placed_[hlo->index] = true;
    for (Instruction* user : users_[hlo->index])
      if (--missing_[user->index] == 0) ready_.push(user);
  }

  Computation& computation_;
  std::vector<std::vector<Instruction*>> users_;
  std::vector<int> missing_;  // operands that have not run
  std::vector<bool> placed_;
  std::priority_queue<Instruction*, std::vector<Instruction*>, ByDescendingIndex> ready_;
};

}  // namespace

Result<bool> OrderReadsBeforeWrites(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) {
    const auto& all = computation->instructions;
    if (std::none_of(all.begin(), all.end(), [](const Instruction* hlo) { return WritesInPlace(*hlo); })) continue;
    any |= Ordering(*computation).Run();
  }
  return any;
}

}  // namespace shoal::internal
