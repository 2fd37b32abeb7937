#include "analyze/summary/rematerialization.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analyze/cost/cost.h"
#include "analyze/memory/buffer_producer.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Sums the flops of the ops that `producer` needs in its computation, up to stored values. In a fused computation, also
// those of the fusion's operands.
class SliceCost {
 public:
  SliceCost(const ModuleFacts& facts, const absl::flat_hash_set<const Instruction*>& stored) : stored_(stored), calls_(facts.module()) {
    for (const InstructionCost& op : facts.cost().instructions) {
      flops_[op.hlo] += op.times * op.once.flops;
      times_[op.hlo] += op.times;
    }
  }

  double Of(const Instruction& producer) {
    std::vector<const Instruction*> stack{&producer};
    absl::flat_hash_set<const Instruction*> seen{&producer};
    double flops = 0;
    while (!stack.empty()) {
      const Instruction& hlo = *stack.back();
      stack.pop_back();
      flops += FlopsOf(hlo);
      for (const Instruction* operand : hlo.operands) {
        const Instruction* value = ArgumentOf(*operand);
        const bool is_stored = stored_.contains(value) || IsParameter(*value) || IsCollective(*value) || IsConstant(*value);
        if (!is_stored && seen.insert(value).second) stack.push_back(value);
      }
    }
    return flops;
  }

 private:
  // The fusion of an instruction in a fused computation, or null.
  const Instruction* FusionOf(const Instruction& hlo) const {
    const auto callers = calls_.CallersOf(*hlo.parent);
    return callers.size() == 1 && IsFusion(*callers.front()) ? callers.front() : nullptr;
  }

  // The operand of the fusion for a parameter of a fused computation, else the value itself.
  const Instruction* ArgumentOf(const Instruction& value) const {
    const Instruction* fusion = IsParameter(value) ? FusionOf(value) : nullptr;
    const auto number = fusion == nullptr ? 0 : static_cast<size_t>(value[kParameterNumber]);
    return fusion != nullptr && number < fusion->operand_count() ? fusion->operands[number] : &value;
  }

  double FlopsOf(const Instruction& hlo) {
    const Instruction* fusion = FusionOf(hlo);
    const auto& counted = fusion == nullptr ? flops_ : times_;
    const auto found = counted.find(fusion == nullptr ? &hlo : fusion);
    if (found == counted.end()) return 0;
    return fusion == nullptr ? found->second : found->second * CostOf(hlo, xla_).flops;
  }

  const absl::flat_hash_set<const Instruction*>& stored_;
  CallGraph calls_;
  XlaCost xla_;
  absl::flat_hash_map<const Instruction*, double> flops_, times_;  // all executions
};

}  // namespace

std::vector<RematerializationCandidate> RematerializationCandidates(const ModuleFacts& facts) {
  const Module& module = facts.module();
  std::vector<RematerializationCandidate> all;
  absl::flat_hash_set<const Instruction*> stored;
  BufferProducers producers(module);
  for (const LiveBuffer& buffer : facts.memory().live_at_peak) {
    const Instruction* producer = producers.Of(buffer);
    if (buffer.kind != LiveBuffer::Kind::kTemporary || producer == nullptr || !producers.is_stacked() || producer->parent == module.entry) continue;
    if (IsParameter(*producer) || IsConstant(*producer)) continue;
    stored.insert(producer);
    all.push_back({&buffer, producer, 0});
  }
  if (all.empty()) return all;
  SliceCost slices(facts, stored);
  for (RematerializationCandidate& each : all) each.flops = slices.Of(*each.producer);
  const auto bytes_per_flop = [](const RematerializationCandidate& each) {
    return static_cast<double>(each.buffer->bytes) / std::max(1.0, each.flops);
  };
  // Small residuals free too little to matter.
  const int64_t largest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                            return a.buffer->bytes < b.buffer->bytes;
                          })->buffer->bytes;
  std::erase_if(all, [&](const auto& each) { return each.buffer->bytes * 20 < largest; });
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return bytes_per_flop(a) > bytes_per_flop(b); });
  return all;
}

}  // namespace shoal::internal
