#include "analyze/summary/step_totals.h"

#include <algorithm>

#include "analyze/facts/async_regions.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// Communication first, what is of no interest last.
int Rank(OpCategory interest) { return interest == OpCategory::kNone ? 2 : interest == OpCategory::kCommunication ? 0 : 1; }

class Totals {
 public:
  void Add(const std::string& kind, OpCategory interest, const KindTotal& once, double times) {
    auto [found, inserted] = index_.try_emplace(kind, kinds_.size());
    if (inserted) kinds_.push_back({kind, interest, 0, 0, 0, 0});
    KindTotal& total = kinds_[found->second];
    total.times += times;
    total.payload_bytes += once.payload_bytes * times;
    total.memory_bytes += once.memory_bytes * times;
    total.flops += once.flops * times;
  }

  // What a kind costs beyond what it was added with.
  void AddCost(const std::string& kind, const Cost& once, double times) {
    KindTotal& total = kinds_[index_.at(kind)];
    total.memory_bytes += once.bytes() * times;
    total.flops += once.flops * times;
  }

  std::vector<KindTotal> Sorted() {
    // Flops and bytes on the scale of a machine with a hundred flops a byte.
    auto weight = [](const KindTotal& kind) { return kind.flops + 100 * (kind.memory_bytes + kind.payload_bytes); };
    std::stable_sort(kinds_.begin(), kinds_.end(), [&](const KindTotal& a, const KindTotal& b) {
      return std::tuple(Rank(a.interest), weight(b)) < std::tuple(Rank(b.interest), weight(a));
    });
    return std::move(kinds_);
  }

 private:
  absl::flat_hash_map<std::string, size_t> index_;
  std::vector<KindTotal> kinds_;
};

}  // namespace

StepTotals StepTotalsOf(const ModuleCollectives& collectives, const ModuleCost& cost, FusionWorks& works) {
  Totals totals;
  StepTotals result;
  absl::flat_hash_map<const Instruction*, std::string> counted;  // as part of a collective of this kind
  for (const LogicalCollective& use : collectives.all) {
    KindTotal once;
    once.payload_bytes = static_cast<double>(use.payload_bytes);
    const std::string kind(Text(use.kind));
    totals.Add(kind, OpCategory::kCommunication, once, use.times);
    for (const Instruction* part : {use.hlo, use.start, use.done}) counted[part] = kind;
  }
  for (const InstructionCost& one : cost.instructions) {
    if (const auto of_collective = counted.find(one.hlo); of_collective != counted.end()) {
      totals.AddCost(of_collective->second, one.once, one.times);
      continue;
    }
    OpCategory interest = OpCategoryOf(*one.hlo, works);
    // A collective that is no use of its own is an end of one that is, or a part that a TPU repeats.
    if (IsAsyncDone(*one.hlo) || IsCommunication(*one.hlo)) interest = OpCategory::kNone;
    KindTotal once;
    once.memory_bytes = one.once.bytes();
    once.flops = one.once.flops;
    if (interest == OpCategory::kNone) {
      totals.Add(std::string(kSmallOps), interest, once, one.times);
      continue;
    }
    totals.Add(CountedAs(*one.hlo, works), interest, once, one.times);
    result.cost_of[one.hlo] = one.once;
  }
  result.kinds = totals.Sorted();
  return result;
}

}  // namespace shoal::internal
