// Reductions of rows and what is computed of them, row by row, become one fusion while the row is in the cache: softmax
// is the maximum, the sum of exponentials and the quotients of each row. What goes through equally many elements, and
// shares some, becomes one fusion with several results. Works on the fusions that FuseLoops made.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/new_ops.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/live_range_guard.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"
#include "transform/passes/row_fusion_legality.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxRowOps = 200, kFarOff = 100;

class RowFusing {
 public:
  RowFusing(Module& module, Computation& computation) : module_(module), computation_(computation), held_(computation) {}

  bool Run() {
    const std::vector<Instruction*> all = computation_.instructions;
    users_.resize(all.size());
    kinds_.resize(all.size());
    for (Instruction* hlo : all) {
      kinds_[hlo->index] = KindOf(*hlo);
      for (Instruction* operand : hlo->operands) users_[operand->index].push_back(hlo);
    }
    bool any = false;
    for (bool reduces : {true, false}) {  // these first: they save more
      for (Instruction* hlo : all) {
        if (!IsMember(*hlo) || Reduces(*hlo) != reduces || taken_.contains(hlo)) continue;
        std::vector<Instruction*> cluster = Grow(*hlo, all);
        if (cluster.size() < 2) continue;
        for (const Instruction* member : cluster) taken_[member] = clusters_.size();
        ranges_.push_back(RangeOf(cluster));
        clusters_.push_back(std::move(cluster));
      }
    }
    Replacements replacements;
    for (const auto& cluster : clusters_) {
      Fuse(cluster, replacements);
      any = true;
    }
    if (!any) return false;
    Apply(replacements, module_, computation_);
    SortTopologically(computation_);
    return true;
  }

 private:
  enum class Kind : uint8_t { kNoMember, kMember, kReduction };

  static Kind KindOf(const Instruction& hlo) {
    // What no operand reaches is worked out once, however often the rest runs. Loops that are cut stay alone.
    if (hlo.opcode != Opcode::kFusion || hlo.operand_count() == 0 || !hlo.shape().IsArray() || !hlo[kControlPredecessors].empty() ||
        hlo[Op<Opcode::kFusion>::kKind] == FusionKind::kCustom)
      return Kind::kNoMember;
    const auto& inside = hlo[kCalls]->instructions;
    if (std::any_of(inside.begin(), inside.end(), [](const Instruction* op) { return IsSplittableConcat(*op); })) return Kind::kNoMember;
    const bool reduces = std::any_of(inside.begin(), inside.end(), [](const Instruction* op) { return op->opcode == Opcode::kReduce; });
    return reduces ? Kind::kReduction : Kind::kMember;
  }

  bool IsMember(const Instruction& hlo) const { return kinds_[hlo.index] != Kind::kNoMember; }
  bool Reduces(const Instruction& hlo) const { return kinds_[hlo.index] == Kind::kReduction; }

  // From a first fusion on, everything that goes through the same rows.
  std::vector<Instruction*> Grow(Instruction& first, const std::vector<Instruction*>& all) {
    std::vector<Instruction*> cluster{&first};
    const bool reduces = Reduces(first);
    size_t ops = first[kCalls]->instructions.size();
    // Not further than this beyond the last that was found: what is far off is seldom of the same rows, and to look at
    // everything for each of many fusions takes long.
    for (size_t i = first.index + 1; i < std::min<size_t>(all.size(), cluster.back()->index + kFarOff); ++i) {
      Instruction* hlo = all[i];
      if (!IsMember(*hlo) || taken_.contains(hlo)) continue;
      const bool uses = std::any_of(hlo->operands.begin(), hlo->operands.end(),
                                    [&](const Instruction* operand) { return Contains(cluster, operand); });
      const bool is_sibling = !uses && Reduces(*hlo) == reduces && SharesOperand(*hlo, cluster);
      const size_t more = (*hlo)[kCalls]->instructions.size();
      if ((!uses && !is_sibling) || ops + more > kMaxRowOps || (!reduces && Reduces(*hlo)) || WouldHoldMuch(cluster, *hlo)) continue;
      cluster.push_back(hlo);
      if (CanFuseByRow(cluster, OutputsOf(cluster)) && !DependsOnItself(cluster)) {
        ops += more;
      } else {
        cluster.pop_back();
      }
    }
    if (reduces) AddProducers(cluster, ops);
    return cluster;
  }

  // A fusion stands where its last member did.
  bool WouldHoldMuch(const std::vector<Instruction*>& cluster, const Instruction& last) const {
    return std::any_of(cluster.begin(), cluster.end(), [&](const Instruction* member) { return held_.ExtendsLiveRanges(*member, last); });
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

  // Nothing before this place depends on the cluster: neither by the order, nor by being one fusion with what comes later.
  uint32_t FirstThatMayDepend(const std::vector<Instruction*>& cluster) const {
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

  // As one fusion it would: by way of something outside, where other clusters are one fusion each already.
  bool DependsOnItself(const std::vector<Instruction*>& cluster) const {
    const uint32_t first = FirstThatMayDepend(cluster);
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
      auto other = taken_.find(hlo);
      if (other == taken_.end()) {
        if (hlo->index > first) add_operands(*hlo, false);
        continue;
      }
      if (RangeOf(clusters_[other->second]).second < first) continue;
      for (const Instruction* member : clusters_[other->second])
        if (seen.insert(member).second || member == hlo) add_operands(*member, false);
    }
    return false;
  }

  // What only these rows ask for is computed where they are gone through.
  void AddProducers(std::vector<Instruction*>& cluster, size_t ops) {
    for (size_t i = 0; i < cluster.size(); ++i) {
      for (Instruction* operand : cluster[i]->operands) {
        if (!IsMember(*operand) || taken_.contains(operand) || operand == computation_.root || Reduces(*operand)) continue;
        const auto& users = users_[operand->index];
        auto is_inside = [&](const Instruction* hlo) { return Contains(cluster, hlo); };
        const size_t more = (*operand)[kCalls]->instructions.size();
        if (is_inside(operand) || ops + more > kMaxRowOps || !std::all_of(users.begin(), users.end(), is_inside)) continue;
        if (std::any_of(operand->operands.begin(), operand->operands.end(), is_inside) || held_.ExtendsLiveRanges(*operand, *cluster.back())) continue;
        cluster.insert(cluster.begin(), operand);
        if (CanFuseByRow(cluster, OutputsOf(cluster)) && !DependsOnItself(cluster)) {
          ops += more;
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

  // Members that others ask for.
  std::vector<Instruction*> OutputsOf(const std::vector<Instruction*>& cluster) const {
    std::vector<Instruction*> outputs;
    for (Instruction* member : cluster) {
      const auto& users = users_[member->index];
      const bool is_wanted = member == computation_.root || std::any_of(users.begin(), users.end(), [&](Instruction* user) {
                               return std::find(cluster.begin(), cluster.end(), user) == cluster.end();
                             });
      if (is_wanted) outputs.push_back(member);
    }
    return outputs;
  }

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
  const LiveRangeGuard held_;
  std::vector<std::vector<Instruction*>> users_;
  std::vector<Kind> kinds_;
  std::vector<std::vector<Instruction*>> clusters_;
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // of each: the first and the last place
  absl::flat_hash_map<const Instruction*, size_t> taken_;  // and by which cluster
};

}  // namespace

Result<bool> FuseRows(Module& module, const PassContext& context) {
  const auto left_alone = EmbeddedComputations(module);
  bool any = false;
  const std::vector<Computation*> before = module.computations;
  for (Computation* computation : before) {
    if (left_alone.contains(computation)) continue;
    const auto& all = computation->instructions;
    if (std::none_of(all.begin(), all.end(), [](const Instruction* hlo) { return hlo->opcode == Opcode::kFusion; })) continue;
    any |= RowFusing(module, *computation).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
