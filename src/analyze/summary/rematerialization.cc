#include "analyze/summary/rematerialization.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analyze/cost/cost.h"
#include "analyze/memory/buffer_producer.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Sums the flops of the ops that `producer` needs in its computation, up to stored values.
class SliceCost {
 public:
  SliceCost(const ModuleCost& cost, const absl::flat_hash_set<const Instruction*>& stored) : stored_(stored) {
    for (const InstructionCost& op : cost.instructions) flops_[op.hlo] += op.times * op.once.flops;
  }

  double Of(const Instruction& producer) {
    std::vector<const Instruction*> stack{&producer};
    absl::flat_hash_set<const Instruction*> seen{&producer};
    double flops = 0;
    while (!stack.empty()) {
      const Instruction* hlo = stack.back();
      stack.pop_back();
      if (auto found = flops_.find(hlo); found != flops_.end()) flops += found->second;
      for (const Instruction* operand : hlo->operands) {
        const bool is_stored = stored_.contains(operand) || IsParameter(*operand) || IsCollective(*operand) || IsConstant(*operand);
        if (!is_stored && seen.insert(operand).second) stack.push_back(operand);
      }
    }
    return flops;
  }

 private:
  const absl::flat_hash_set<const Instruction*>& stored_;
  absl::flat_hash_map<const Instruction*, double> flops_;
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
  SliceCost slices(facts.cost(), stored);
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
