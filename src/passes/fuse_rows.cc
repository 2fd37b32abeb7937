// Reductions of rows and what is computed of them, row by row, become one fusion while the row is in the cache: softmax
// is the maximum, the sum of exponentials and the quotients of each row. Works on the fusions that FuseLoops made.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/strings.h"
#include "ir/rewrite.h"
#include "passes/pass.h"
#include "passes/rows.h"
#include "passes/traits.h"

namespace shoal {
namespace {

constexpr size_t kMostOps = 200;

class RowFusing {
 public:
  RowFusing(Module& module, Computation& computation) : module_(module), computation_(computation) {}

  bool Run() {
    const std::vector<Instruction*> all = computation_.instructions;
    users_.resize(all.size());
    for (Instruction* hlo : all)
      for (Instruction* operand : hlo->operands) users_[operand->index].push_back(hlo);
    bool any = false;
    std::vector<std::vector<Instruction*>> clusters;
    for (Instruction* hlo : all) {
      if (taken_.contains(hlo) || !IsMember(*hlo) || !Reduces(*hlo)) continue;
      std::vector<Instruction*> cluster = Grow(*hlo, all);
      if (cluster.size() < 2) continue;
      taken_.insert(cluster.begin(), cluster.end());
      clusters.push_back(std::move(cluster));
    }
    Replacements replacements;
    for (const auto& cluster : clusters) {
      Fuse(cluster, replacements);
      any = true;
    }
    if (!any) return false;
    Apply(replacements, module_, computation_);
    SortByUse(computation_);
    return true;
  }

 private:
  static bool IsMember(const Instruction& hlo) {
    return hlo.opcode == Opcode::kFusion && hlo.shape().IsArray() && hlo[kControlPredecessors].empty() &&
           hlo[Op<Opcode::kFusion>::kKind] != FusionKind::kCustom;
  }

  static bool Reduces(const Instruction& fusion) {
    const auto& inside = fusion[kCalls]->instructions;
    return std::any_of(inside.begin(), inside.end(), [](const Instruction* hlo) { return hlo->opcode == Opcode::kReduce; });
  }

  // From a first reduction on, everything that goes through the same rows and depends on nothing outside that depends
  // on the rows' results.
  std::vector<Instruction*> Grow(Instruction& first, const std::vector<Instruction*>& all) {
    std::vector<Instruction*> cluster{&first};
    size_t ops = first[kCalls]->instructions.size();
    absl::flat_hash_set<const Instruction*> inside{&first}, tainted;
    for (size_t i = first.index + 1; i < all.size(); ++i) {
      Instruction* hlo = all[i];
      bool uses = false, is_tainted = false;
      for (const Instruction* operand : hlo->operands) {
        uses |= inside.contains(operand);
        is_tainted |= tainted.contains(operand);
      }
      for (const Instruction* before : (*hlo)[kControlPredecessors])
        is_tainted |= inside.contains(before) || tainted.contains(before);
      const bool is_sibling = !uses && !is_tainted && IsMember(*hlo) && Reduces(*hlo) && SharesOperand(*hlo, cluster);
      if (!is_tainted && (uses || is_sibling) && IsMember(*hlo) && !taken_.contains(hlo)) {
        const size_t more = (*hlo)[kCalls]->instructions.size();
        cluster.push_back(hlo);
        if (ops + more <= kMostOps && GoThroughSameRows(cluster, OutputsOf(cluster))) {
          ops += more;
          inside.insert(hlo);
          continue;
        }
        cluster.pop_back();
      }
      if (uses || is_tainted) tainted.insert(hlo);
    }
    return cluster;
  }

  static bool SharesOperand(const Instruction& hlo, const std::vector<Instruction*>& cluster) {
    for (const Instruction* member : cluster)
      for (const Instruction* operand : member->operands)
        if (operand->shape().ElementCount().value_or(0) > hlo.shape().ElementCount().value_or(0) &&
            std::find(hlo.operands.begin(), hlo.operands.end(), operand) != hlo.operands.end())
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
        Instruction* parameter = NewInstruction(module_, *fused, Opcode::kParameter, operand->shape_, {}, *operand);
        SetAttr(*parameter, module_, kParameterNumber, static_cast<int64_t>(arguments.size()));
        fused->parameters.push_back(parameter);
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
  std::vector<std::vector<Instruction*>> users_;
  absl::flat_hash_set<const Instruction*> taken_;
};

}  // namespace

Result<bool> FuseRows(Module& module) {
  bool any = false;
  const std::vector<Computation*> before = module.computations;
  for (Computation* computation : before) {
    const auto& all = computation->instructions;
    if (std::none_of(all.begin(), all.end(), [](const Instruction* hlo) { return hlo->opcode == Opcode::kFusion; })) continue;
    any |= RowFusing(module, *computation).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module));
  return any;
}

}  // namespace shoal
