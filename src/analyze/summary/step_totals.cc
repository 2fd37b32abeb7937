#include "analyze/summary/step_totals.h"

#include <algorithm>

#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// The sort order of categories: communication comes first, unimportant ops come last.
int Rank(OpCategory c) { return c == OpCategory::kNone ? 2 : c == OpCategory::kCommunication ? 0 : 1; }

class Totals {
 public:
  void Add(const std::string& kind, OpCategory category, const KindTotal& once, double times) {
    auto [found, inserted] = index_.try_emplace(kind, kinds_.size());
    if (inserted) kinds_.push_back({kind, category, 0, 0, 0, 0});
    KindTotal& total = kinds_[found->second];
    total.times += times;
    total.payload_bytes += once.payload_bytes * times;
    total.memory_bytes += once.memory_bytes * times;
    total.flops += once.flops * times;
  }

  void AddCost(const std::string& kind, const Cost& once, double times) {
    KindTotal& total = kinds_[index_.at(kind)];
    total.memory_bytes += once.bytes() * times;
    total.flops += once.flops * times;
  }

  std::vector<KindTotal> Sorted() {
    // Weigh flops and bytes as on a machine that computes a hundred flops in the time of one byte.
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

StepTotals StepTotalsOf(const ModuleFacts& facts) {
  const FusionWorks& works = facts.fusion_works();
  Totals totals;
  StepTotals result;
  absl::flat_hash_map<const Instruction*, std::string> collective_parts;  // kind of the collective of each part
  for (const LogicalCollective& collective : facts.collectives().all) {
    KindTotal once;
    once.payload_bytes = static_cast<double>(collective.payload_bytes);
    const std::string kind(Text(collective.kind));
    totals.Add(kind, OpCategory::kCommunication, once, collective.times);
    for (const Instruction* part : {collective.hlo, collective.start, collective.done}) collective_parts[part] = kind;
  }
  for (const InstructionCost& instruction : facts.cost().instructions) {
    if (const auto part = collective_parts.find(instruction.hlo); part != collective_parts.end()) {
      totals.AddCost(part->second, instruction.once, instruction.times);
      continue;
    }
    OpCategory category = OpCategoryOf(*instruction.hlo, works);
    // A collective op that is not counted above is a done, or another part of a collective that is spread over fusions.
    if (IsAsyncDone(*instruction.hlo) || IsCommunication(*instruction.hlo)) category = OpCategory::kNone;
    KindTotal once;
    once.memory_bytes = instruction.once.bytes();
    once.flops = instruction.once.flops;
    if (category == OpCategory::kNone) {
      totals.Add(std::string(kSmallOps), category, once, instruction.times);
      continue;
    }
    totals.Add(TotalsKindOf(*instruction.hlo, works), category, once, instruction.times);
    result.cost_of[instruction.hlo] = instruction.once;
  }
  result.kinds = totals.Sorted();
  return result;
}

}  // namespace shoal::internal
