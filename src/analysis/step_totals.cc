#include "analysis/step_totals.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/async_regions.h"
#include "ops/op.h"

namespace shoal {
namespace {

class Totals {
 public:
  void Add(const std::string& kind, Interest interest, const KindTotal& once, double times) {
    auto [found, inserted] = index_.try_emplace(kind, kinds_.size());
    if (inserted) kinds_.push_back({kind, interest, 0, 0, 0, 0});
    KindTotal& total = kinds_[found->second];
    total.times += times;
    total.payload_bytes += once.payload_bytes * times;
    total.memory_bytes += once.memory_bytes * times;
    total.flops += once.flops * times;
  }

  std::vector<KindTotal> Sorted() {
    // Flops and bytes on the scale of a machine with a hundred flops a byte.
    auto weight = [](const KindTotal& kind) { return kind.flops + 100 * (kind.memory_bytes + kind.payload_bytes); };
    std::stable_sort(kinds_.begin(), kinds_.end(), [&](const KindTotal& a, const KindTotal& b) {
      return std::tuple(a.interest, weight(b)) < std::tuple(b.interest, weight(a));
    });
    return std::move(kinds_);
  }

 private:
  absl::flat_hash_map<std::string, size_t> index_;
  std::vector<KindTotal> kinds_;
};

}  // namespace

StepTotals TotalsOf(const ModuleCollectives& collectives, const ModuleCost& cost, FusionWorks& works) {
  Totals totals;
  StepTotals result;
  absl::flat_hash_set<const Instruction*> counted;  // as part of a collective
  for (const CollectiveUse& use : collectives.uses) {
    KindTotal once;
    once.payload_bytes = static_cast<double>(use.payload_bytes);
    totals.Add(std::string(Text(use.kind)), Interest::kCommunication, once, use.times);
    counted.insert({use.hlo, use.start, use.done});
  }
  for (const InstructionCost& one : cost.instructions) {
    const Interest interest = InterestOf(*one.hlo, works);
    if (interest == Interest::kNone || counted.contains(one.hlo)) continue;
    // A collective that is no use of its own is an end of one that is, or a part that a TPU repeats.
    if (IsAsyncDone(*one.hlo) || IsCommunication(*one.hlo)) continue;
    KindTotal once;
    once.memory_bytes = one.once.bytes();
    once.flops = std::max(one.once.flops, 0.0);  // XLA has -1 for what it does not know
    totals.Add(CountedAs(*one.hlo, works), interest, once, one.times);
    result.cost_of[one.hlo] = one.once;
  }
  result.kinds = totals.Sorted();
  return result;
}

}  // namespace shoal
