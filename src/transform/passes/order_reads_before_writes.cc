// Orders readers of a value before ops that write it in place (dynamic-update-slice, scatter), where dependencies
// permit. Such an op must copy its operand if the operand is read afterwards.
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool WritesInPlace(const Instruction& hlo) {
  return IsDynamicUpdateSlice(hlo) || IsScatter(hlo);
}

class InstructionOrdering {
 public:
  explicit InstructionOrdering(Computation& computation) : computation_(computation) {}

  // Keeps the existing order, but delays each writer until its operand has no readers or only writers are ready.
  bool Run() {
    auto& all = computation_.instructions;
    users_.resize(all.size());
    pending_operands_.resize(all.size());
    for (Instruction* hlo : all) {
      for (Instruction* operand : hlo->operands) AddEdge(*operand, *hlo);
      for (Instruction* before : (*hlo)[kControlPredecessors]) AddEdge(*before, *hlo);
    }
    for (Instruction* hlo : all)
      if (pending_operands_[hlo->index] == 0) ready_.push(hlo);
    std::vector<Instruction*> order;
    std::vector<Instruction*> waiting_writers;  // writers whose operands still have readers
    ordered_.assign(all.size(), false);
    while (order.size() < all.size()) {
      if (ready_.empty()) {
        if (waiting_writers.empty()) return false;
        Append(waiting_writers.front(), order);
        waiting_writers.erase(waiting_writers.begin());
      } else {
        Instruction* hlo = ready_.top();
        ready_.pop();
        if (HasReaders(*hlo))
          waiting_writers.push_back(hlo);
        else
          Append(hlo, order);
      }
      // Release the writers without remaining readers.
      for (size_t i = 0; i < waiting_writers.size();) {
        if (HasReaders(*waiting_writers[i])) {
          ++i;
        } else {
          ready_.push(waiting_writers[i]);
          waiting_writers.erase(waiting_writers.begin() + static_cast<int64_t>(i));
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
    ++pending_operands_[to.index];
  }

  bool HasReaders(const Instruction& hlo) const {
    if (!WritesInPlace(hlo)) return false;
    for (const Instruction* user : users_[hlo.operands[0]->index])
      if (user != &hlo && !ordered_[user->index] && !WritesInPlace(*user)) return true;
    return false;
  }

  void Append(Instruction* hlo, std::vector<Instruction*>& order) {
    order.push_back(hlo);
    ordered_[hlo->index] = true;
    for (Instruction* user : users_[hlo->index])
      if (--pending_operands_[user->index] == 0) ready_.push(user);
  }

  Computation& computation_;
  std::vector<std::vector<Instruction*>> users_;
  std::vector<int> pending_operands_;  // number of operands not yet ordered, by instruction index
  std::vector<bool> ordered_;
  std::priority_queue<Instruction*, std::vector<Instruction*>, ByDescendingIndex> ready_;
};

}  // namespace

Result<bool> OrderReadsBeforeWrites(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) {
    const auto& all = computation->instructions;
    if (std::none_of(all.begin(), all.end(), [](const Instruction* hlo) { return WritesInPlace(*hlo); })) continue;
    any |= InstructionOrdering(*computation).Run();
  }
  return any;
}

}  // namespace shoal::internal
