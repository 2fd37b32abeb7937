// Merges row reductions with the ops that use their results row by row, so that the row stays in the cache. Softmax,
// for example, computes the maximum, the sum of exponentials and the quotients of each row. Also merges fusions with
// equal element counts and a common operand into one fusion with several results. Must run after FuseLoops.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/new_ops.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/kernel_check.h"
#include "transform/passes/live_range_guard.h"
#include "transform/passes/pass.h"
#include "transform/passes/row_fusion_legality.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxRowOps = 200, kMaxDistance = 100;

class RowFuser {
 public:
  RowFuser(Module& module, Computation& computation, KernelCheck& check)
      : module_(module), computation_(computation), check_(check), live_ranges_(computation) {}

  bool Run() {
    const std::vector<Instruction*> all = computation_.instructions;
    users_.resize(all.size());
    kinds_.resize(all.size());
    for (Instruction* hlo : all) {
      kinds_[hlo->index] = KindOf(*hlo);
      for (Instruction* operand : hlo->operands) users_[operand->index].push_back(hlo);
    }
    for (bool reduces : {true, false}) {  // reductions first, because merging them saves more
      for (Instruction* hlo : all) {
        if (!IsMember(*hlo) || Reduces(*hlo) != reduces || cluster_of_.contains(hlo)) continue;
        std::vector<Instruction*> cluster = Grow(*hlo, all);
        if (cluster.size() < 2) continue;
        for (const Instruction* member : cluster) cluster_of_[member] = clusters_.size();
        ranges_.push_back(RangeOf(cluster));
        clusters_.push_back(std::move(cluster));
      }
    }
    Replacements replacements;
    for (const auto& cluster : clusters_) Fuse(cluster, replacements);
    if (replacements.empty()) return false;
    Apply(replacements, module_, computation_);
    SortTopologically(computation_);
    return true;
  }

 private:
  enum class Kind : uint8_t { kNotMember, kMember, kReduction };

  static Kind KindOf(const Instruction& hlo) {
    // A fusion without operands is evaluated once, even if the computation runs often. Split loops are not merged.
    if (hlo.opcode != Opcode::kFusion || hlo.operand_count() == 0 || !hlo.shape().IsArray() || !hlo[kControlPredecessors].empty() ||
        hlo[Op<Opcode::kFusion>::kKind] == FusionKind::kCustom)
      return Kind::kNotMember;
    const auto& inside = hlo[kCalls]->instructions;
    if (std::any_of(inside.begin(), inside.end(), [](const Instruction* op) { return IsSplittableConcat(*op); })) return Kind::kNotMember;
    const bool reduces = std::any_of(inside.begin(), inside.end(), [](const Instruction* op) { return op->opcode == Opcode::kReduce; });
    return reduces ? Kind::kReduction : Kind::kMember;
  }

  bool IsMember(const Instruction& hlo) const { return kinds_[hlo.index] != Kind::kNotMember; }
  bool Reduces(const Instruction& hlo) const { return kinds_[hlo.index] == Kind::kReduction; }

  // Collects fusions that iterate over the same rows as `first`, beginning with `first`.
  std::vector<Instruction*> Grow(Instruction& first, const std::vector<Instruction*>& all) {
    std::vector<Instruction*> cluster{&first};
    const bool reduces = Reduces(first);
    size_t ops = first[kCalls]->instructions.size();
    // Stop kMaxDistance instructions after the last member. Distant fusions rarely share rows, and scanning all
    // instructions for each of many fusions takes long.
    for (size_t i = first.index + 1; i < std::min<size_t>(all.size(), cluster.back()->index + kMaxDistance); ++i) {
      Instruction* hlo = all[i];
      if (!IsMember(*hlo) || cluster_of_.contains(hlo)) continue;
      const bool uses = std::any_of(hlo->operands.begin(), hlo->operands.end(),
                                    [&](const Instruction* operand) { return Contains(cluster, operand); });
      const bool is_sibling = !uses && Reduces(*hlo) == reduces && SharesOperand(*hlo, cluster);
      const size_t added_ops = (*hlo)[kCalls]->instructions.size();
      if ((!uses && !is_sibling) || ops + added_ops > kMaxRowOps || (!reduces && Reduces(*hlo)) || ExtendsLiveRanges(cluster, *hlo)) continue;
      cluster.push_back(hlo);
      if (CanFuseByRow(cluster, OutputsOf(cluster)) && !DependsOnItself(cluster)) {
        ops += added_ops;
      } else {
        cluster.pop_back();
      }
    }
    if (reduces) AddProducers(cluster, ops);
    return cluster;
  }

  // True if merging extends live ranges. The merged fusion takes the position of its last member.
  bool ExtendsLiveRanges(const std::vector<Instruction*>& cluster, const Instruction& last) const {
    return std::any_of(cluster.begin(), cluster.end(), [&](const Instruction* member) { return live_ranges_.ExtendsLiveRanges(*member, last); });
  }

  static bool Contains(const std::vector<Instruction*>& cluster, const Instruction* hlo) {
    return std::find(cluster.begin(), cluster.end(), hlo) != cluster.end();
  }

  static std::pair<uint32_t, uint32_t> RangeOf(const std::vector<Instruction*>& cluster) {
    const auto [first, last] = std::minmax_element(cluster.begin(), cluster.end(), [](const Instruction* a, const Instruction* b) {
      return a->index < b->index;
    });
    return {(*first)->index, (*last)->index};
  }

  // Returns a position before which no instruction depends on the cluster, even after other clusters are merged.
  uint32_t FirstPossibleDependent(const std::vector<Instruction*>& cluster) const {
    uint32_t first = RangeOf(cluster).first;
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& [begin, end] : ranges_) {
        if (begin >= first || end < first) continue;
        first = begin;
        moved = true;
      }
    }
    return first;
  }

  // True if merging the cluster would create a cycle through outside instructions. Other clusters count as merged.
  bool DependsOnItself(const std::vector<Instruction*>& cluster) const {
    const uint32_t first = FirstPossibleDependent(cluster);
    absl::flat_hash_set<const Instruction*> seen;
    std::vector<const Instruction*> to_do;
    auto add_operands = [&](const Instruction& hlo, bool from_inside) {
      auto add = [&](const Instruction* before) {
        if ((from_inside && Contains(cluster, before)) || !seen.insert(before).second) return;
        to_do.push_back(before);
      };
      for (const Instruction* operand : hlo.operands) add(operand);
      for (const Instruction* before : hlo[kControlPredecessors]) add(before);
    };
    for (const Instruction* member : cluster) add_operands(*member, true);
    while (!to_do.empty()) {
      const Instruction* hlo = to_do.back();
      to_do.pop_back();
      if (Contains(cluster, hlo)) return true;
      auto other = cluster_of_.find(hlo);
      if (other == cluster_of_.end()) {
        if (hlo->index > first) add_operands(*hlo, false);
        continue;
      }
      if (RangeOf(clusters_[other->second]).second < first) continue;
      for (const Instruction* member : clusters_[other->second])
        if (seen.insert(member).second || member == hlo) add_operands(*member, false);
    }
    return false;
  }

  // Adds producers that are used only inside the cluster.
  void AddProducers(std::vector<Instruction*>& cluster, size_t ops) {
    for (size_t i = 0; i < cluster.size(); ++i) {
      for (Instruction* operand : cluster[i]->operands) {
        if (!IsMember(*operand) || cluster_of_.contains(operand) || operand == computation_.root || Reduces(*operand)) continue;
        const auto& users = users_[operand->index];
        auto is_inside = [&](const Instruction* hlo) { return Contains(cluster, hlo); };
        const size_t added_ops = (*operand)[kCalls]->instructions.size();
        if (is_inside(operand) || ops + added_ops > kMaxRowOps || !std::all_of(users.begin(), users.end(), is_inside)) continue;
        if (std::any_of(operand->operands.begin(), operand->operands.end(), is_inside) || live_ranges_.ExtendsLiveRanges(*operand, *cluster.back())) continue;
        cluster.insert(cluster.begin(), operand);
        if (CanFuseByRow(cluster, OutputsOf(cluster)) && !DependsOnItself(cluster)) {
          ops += added_ops;
          ++i;
        } else {
          cluster.erase(cluster.begin());
        }
      }
    }
  }

  static bool SharesOperand(const Instruction& hlo, const std::vector<Instruction*>& cluster) {
    for (const Instruction* member : cluster)
      for (const Instruction* operand : member->operands)
        if (std::find(hlo.operands.begin(), hlo.operands.end(), operand) != hlo.operands.end() &&
            ElementsOf(*operand) >= std::max<int64_t>(2, ElementsOf(hlo)))
          return true;
    return false;
  }

  // Members with users outside the cluster.
  std::vector<Instruction*> OutputsOf(const std::vector<Instruction*>& cluster) const {
    std::vector<Instruction*> outputs;
    for (Instruction* member : cluster) {
      const auto& users = users_[member->index];
      const bool is_output = member == computation_.root || std::any_of(users.begin(), users.end(), [&](Instruction* user) {
                               return std::find(cluster.begin(), cluster.end(), user) == cluster.end();
                             });
      if (is_output) outputs.push_back(member);
    }
    return outputs;
  }

  // Merges the cluster unless the kernel builder refuses it.
  void Fuse(const std::vector<Instruction*>& cluster, Replacements& replacements) {
    const std::vector<Instruction*> outputs = OutputsOf(cluster);
    Instruction& last = *cluster.back();
    Computation* fused = module_.NewComputation(module_.arena.CopyString(StrCat("fused_rows_", last.name)));
    fused->at = last.at;
    module_.computations.push_back(fused);
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    std::vector<Instruction*> arguments;
    for (const Instruction* member : cluster) {
      for (Instruction* operand : member->operands) {
        if (inside.contains(operand) || std::find(cluster.begin(), cluster.end(), operand) != cluster.end()) continue;
        Instruction* parameter = NewParameter(module_, *fused, operand->shape_, *operand);
        inside[operand] = parameter;
        arguments.push_back(operand);
      }
    }
    for (const Instruction* member : cluster) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : member->operands) operands.push_back(inside.at(operand));
      inside[member] = Inline(*(*member)[kCalls], operands, module_, *fused);
    }
    const Shape* shape = outputs[0]->shape_;
    fused->root = inside.at(outputs[0]);
    if (outputs.size() > 1) {
      std::vector<const Shape*> shapes;
      std::vector<Instruction*> roots;
      for (const Instruction* output : outputs) {
        shapes.push_back(output->shape_);
        roots.push_back(inside.at(output));
      }
      shape = module_.shapes.Tuple(shapes);
      fused->root = NewInstruction(module_, *fused, Opcode::kTuple, shape, roots, last);
    }
    Instruction* fusion = NewInstruction(module_, computation_, Opcode::kFusion, shape, arguments, last);
    SetAttr(*fusion, module_, Op<Opcode::kFusion>::kKind.id, EnumValue{static_cast<uint8_t>(FusionKind::kInput)});
    SetAttr(*fusion, module_, kCalls, fused);
    if (!check_.Accepts(*fusion, last)) {
      computation_.instructions.pop_back();
      module_.computations.pop_back();
      return;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      replacements[outputs[i]] = fusion;
      if (outputs.size() == 1) break;
      Instruction* part = NewInstruction(module_, computation_, Opcode::kGetTupleElement, outputs[i]->shape_,
                                         std::span<Instruction* const>(&fusion, 1), *outputs[i]);
      SetAttr(*part, module_, Op<Opcode::kGetTupleElement>::kIndex, static_cast<int64_t>(i));
      replacements[outputs[i]] = part;
    }
  }

  Module& module_;
  Computation& computation_;
  KernelCheck& check_;
  const LiveRangeGuard live_ranges_;
  std::vector<std::vector<Instruction*>> users_;
  std::vector<Kind> kinds_;
  std::vector<std::vector<Instruction*>> clusters_;
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;           // first and last instruction index of each cluster
  absl::flat_hash_map<const Instruction*, size_t> cluster_of_;  // cluster number of each member
};

}  // namespace

Result<bool> FuseRows(Module& module, const PassContext& context) {
  const auto embedded = EmbeddedComputations(module);
  KernelCheck check(context);
  bool any = false;
  const std::vector<Computation*> before = module.computations;
  for (Computation* computation : before) {
    if (embedded.contains(computation)) continue;
    const auto& all = computation->instructions;
    if (std::none_of(all.begin(), all.end(), [](const Instruction* hlo) { return hlo->opcode == Opcode::kFusion; })) continue;
    any |= RowFuser(module, *computation, check).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
