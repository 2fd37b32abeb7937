// Groups instructions into loop nests. Visits the instructions from last to first. Each joins the group of its users if
// all users are in one group. Otherwise it becomes the root of a new group, and its value is written to memory once.
// Constants, iota and index maps are cheap to repeat, so they join the groups of all their users. If the kernel builder
// refuses a group, its ops are fused one by one.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/new_ops.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/loop_splitting.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/kernel_check.h"
#include "transform/passes/live_range_guard.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxOps = 160;  // limit per group: more ops take longer to compile and need more registers
constexpr size_t kMaxOpsOfParts = 1000;  // limit for all parts of a split group together, for the same reason

// Number of iterations of the loops of a group with this root.
int64_t IterationsOf(const Instruction& root) {
  if (root.opcode == Opcode::kReduceWindow) {
    int64_t iterations = LeafShapes(root.shape())[0]->ElementCount().value_or(0);
    for (const WindowDim& dim : root[kWindow]->dims) iterations *= dim.size;
    return iterations;
  }
  return root.opcode == Opcode::kReduce ? ElementsOf(*root.operands[0]) : ElementsOf(root);
}

// True if the op keeps the order of the bytes, so that a separate loop for it would gain nothing.
bool IsFree(const Instruction& hlo) {
  return hlo.opcode == Opcode::kReshape || hlo.opcode == Opcode::kBitcast || hlo.opcode == Opcode::kCopy;
}

bool IsIndexMap(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kIndexMap; }

// True if a transpose moves the innermost dimension. A loop would read with a stride; a library kernel uses tiles.
bool MovesMinorDim(const Instruction& hlo) {
  const Ints dimensions = hlo[kDimensions];
  return hlo.opcode == Opcode::kTranspose && !dimensions.empty() &&
         dimensions.back() != static_cast<int64_t>(dimensions.size()) - 1 && ElementsOf(hlo) > 64;
}

// True if the gather's slices are long. A library function with prefetching copies such slices equally fast.
bool HasLongRuns(const Instruction& gather) {
  constexpr int64_t kLong = 256;  // in bytes
  const Ints sizes = gather[Op<Opcode::kGather>::kSliceSizes], dims = gather.operand_shape(0).dims();
  int64_t run = StorageBytes(gather.shape().element_type());
  for (size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    if (sizes[d] != dims[d]) break;
  }
  return run >= kLong;
}

bool IsFusible(const Instruction& hlo) {
  return IsSingleElementConstant(hlo) || (IsLoopOp(hlo) && !MovesMinorDim(hlo)) || IsSplittableConcat(hlo);
}

// True if all elements are one constant, so that storing the value in memory is never worthwhile.
bool IsSplat(const Instruction& hlo) {
  return IsSingleElementConstant(hlo) || (hlo.opcode == Opcode::kBroadcast && IsSingleElementConstant(*hlo.operands[0]));
}

bool IsRepeatable(const Instruction& hlo) { return IsSingleElementConstant(hlo) || (IsIndexMap(hlo) && !IsSplittableConcat(hlo)); }

class LoopFuser {
 public:
  LoopFuser(Module& module, Computation& computation, KernelCheck& check)
      : module_(module), computation_(computation), check_(check), live_ranges_(computation) {}

  bool Run() {
    FindGroups();
    Replacements replacements;
    const std::vector<Instruction*> before = computation_.instructions;
    std::vector<Instruction*> order;  // each fusion takes the position of its root
    for (Instruction* hlo : before) {
      order.push_back(hlo);
      std::vector<Instruction*> ops = std::move(members_[hlo->index]);
      if (ops.empty() || !IsProfitable(ops)) continue;
      std::reverse(ops.begin(), ops.end());
      if (TryFuse(*hlo, ops, replacements, order) || ops.size() == 1) continue;
      for (Instruction* op : ops)
        if (!replacements.contains(op) && IsProfitable({op})) TryFuse(*op, {op}, replacements, order);
    }
    computation_.instructions = std::move(order);  // without refused fusions
    if (replacements.empty()) return false;
    Apply(replacements, module_, computation_);
    SortTopologically(computation_);
    return true;
  }

 private:
  using Groups = absl::InlinedVector<Instruction*, 2>;  // the roots of the groups

  void FindGroups() {
    const auto& all = computation_.instructions;
    users_.resize(all.size());
    groups_.resize(all.size());
    members_.resize(all.size());
    ops_.resize(all.size());
    inside_.resize(all.size());
    for (Instruction* hlo : all)
      for (Instruction* operand : hlo->operands) users_[operand->index].push_back(hlo);
    for (size_t i = all.size(); i-- > 0;) {
      Instruction* hlo = all[i];
      if (IsKernelReduction(*hlo)) {
        Join(*hlo, hlo);
      } else if (IsFusible(*hlo)) {
        AssignGroup(*hlo);
      }
    }
  }

  void AssignGroup(Instruction& hlo) {
    Groups user_groups;
    bool is_used_outside = &hlo == computation_.root;
    for (const Instruction* user : users_[hlo.index]) {
      const Groups& groups = groups_[user->index];
      is_used_outside |= groups.empty();
      for (Instruction* root : groups)
        if (std::find(user_groups.begin(), user_groups.end(), root) == user_groups.end()) user_groups.push_back(root);
    }
    if (ReadsUpdatedOperand(hlo)) return Join(hlo, &hlo);
    if (IsSplittableConcat(hlo)) return AssignConcatLike(hlo, is_used_outside, user_groups);
    if (hlo.opcode == Opcode::kGather && HasLongRuns(hlo) &&
        (is_used_outside || user_groups.size() != 1 || !CanJoin(hlo, *user_groups[0])))
      return;
    if (!IsRepeatable(hlo)) {
      if (!is_used_outside && user_groups.size() == 1 && CanJoin(hlo, *user_groups[0])) return Join(hlo, user_groups[0]);
      if (!IsSingleElementConstant(hlo)) Join(hlo, &hlo);
      return;
    }
    for (Instruction* root : user_groups) {
      if (CanJoin(hlo, *root))
        Join(hlo, root);
      else
        is_used_outside = true;
    }
    if (is_used_outside && !IsSingleElementConstant(hlo)) Join(hlo, &hlo);
  }

  // A concatenate or a pad joins the group of its users, or else forms a group with its operands. If neither is
  // possible, it is not fused: a copy is as fast as a loop.
  void AssignConcatLike(Instruction& hlo, bool is_used_outside, const Groups& user_groups) {
    if (!is_used_outside && user_groups.size() == 1 && CanJoin(hlo, *user_groups[0]) &&
        (IsProfitable(members_[user_groups[0]->index]) || HasComputedOperand(hlo)) && SplitLoops(hlo, *user_groups[0]))
      return Join(hlo, user_groups[0]);
    if (HasComputedOperand(hlo) && SplitLoops(hlo, hlo)) Join(hlo, &hlo);
  }

  // True if the concat-like `hlo` has an operand that would otherwise be written to memory only to be read here.
  bool HasComputedOperand(const Instruction& hlo) const {
    return std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
      while (IsFree(*operand) && IsLoopOp(*operand) && users_[operand->index].size() == 1) operand = operand->operands[0];
      if (IsFree(*operand) || IsSplat(*operand) || !IsFusible(*operand) || operand->shape().rank() == 0) return false;
      const auto& users = users_[operand->index];
      return IsRepeatable(*operand) || std::all_of(users.begin(), users.end(), [&](const Instruction* user) { return user == users[0]; });
    });
  }

  bool IsInGroup(const Instruction& hlo, const Instruction& root) const {
    const Groups& groups = groups_[hlo.index];
    return std::find(groups.begin(), groups.end(), &root) != groups.end();
  }

  // Splits the loops of the group so that each part reads one operand of `hlo`. Returns false if they cannot be split.
  bool SplitLoops(const Instruction& hlo, Instruction& root) {
    const auto users = [this](const Instruction& of) -> const std::vector<Instruction*>& { return users_[of.index]; };
    const auto is_inside = [&](const Instruction& of) { return IsInGroup(of, root); };
    const auto known = splits_.find(&root);
    std::optional<LoopSplits> splits = (known == splits_.end() ? LoopSplits(root) : known->second).WithSplitsFor(hlo, users, is_inside);
    if (!splits || static_cast<size_t>(splits->PartCount()) * ops_[root.index] > kMaxOpsOfParts) return false;
    splits_.insert_or_assign(&root, std::move(*splits));
    return true;
  }

  // Number of iterations that evaluate `hlo`. For an operand of a concatenate, these are only a part of all iterations.
  int64_t IterationsOf(const Instruction& hlo, const Instruction& root) const {
    const auto splits = splits_.find(&root);
    if (splits == splits_.end() || &hlo == &root) return shoal::internal::IterationsOf(root);
    int64_t max_iterations = 0;
    for (const Instruction* user : users_[hlo.index]) {
      const auto known = iterations_.find({&root, user});
      int64_t iterations = known == iterations_.end() ? shoal::internal::IterationsOf(root) : known->second;
      if (IsSplittableConcat(*user) && iterations > 0) iterations = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(iterations) * static_cast<double>(ElementsOf(hlo)) / static_cast<double>(ElementsOf(*user))));
      max_iterations = std::max(max_iterations, iterations);
    }
    return max_iterations;
  }

  // True if another op updates the operand of this slice in place. The slice must run first, so it must not be fused.
  bool ReadsUpdatedOperand(const Instruction& hlo) const {
    if (hlo.opcode != Opcode::kDynamicSlice) return false;
    const auto& users = users_[hlo.operands[0]->index];
    return std::any_of(users.begin(), users.end(), [](const Instruction* user) {
      return user->opcode == Opcode::kDynamicUpdateSlice || user->opcode == Opcode::kScatter;
    });
  }

  bool CanJoin(const Instruction& hlo, const Instruction& root) const {
    if (IsSplat(hlo)) return true;
    const size_t ops = ops_[root.index];
    if (ops >= kMaxOps || live_ranges_.ExtendsLiveRanges(hlo, root)) return false;
    if (const auto splits = splits_.find(&root); splits != splits_.end() && ops * static_cast<size_t>(splits->second.PartCount()) >= kMaxOpsOfParts) return false;
    // Expensive ops join only if fusion evaluates each of their elements about once.
    const int64_t iterations = IterationsOf(hlo, root);
    if (IsGathered(hlo)) return iterations <= ElementsOf(hlo);
    return iterations <= ElementsOf(hlo) * 3 / 2 || !(IsExpensive(hlo.opcode) || hlo.opcode == Opcode::kGather);
  }

  // True if a gather reads arbitrary elements of `hlo`.
  bool IsGathered(const Instruction& hlo) const {
    if (IsFree(hlo)) return false;
    const auto& users = users_[hlo.index];
    return std::any_of(users.begin(), users.end(), [&](const Instruction* user) {
      return user->opcode == Opcode::kGather && user->operands[0] == &hlo;
    });
  }

  void Join(Instruction& hlo, Instruction* root) {
    groups_[hlo.index].push_back(root);
    members_[root->index].push_back(&hlo);
    ops_[root->index] += IsSplat(hlo) ? 0 : 1;
    if (splits_.contains(root)) iterations_[{root, &hlo}] = IterationsOf(hlo, *root);
  }

  bool IsProfitable(const std::vector<Instruction*>& ops) const {
    return !std::all_of(ops.begin(), ops.end(),
                        [](const Instruction* hlo) { return IsFree(*hlo) || IsSingleElementConstant(*hlo); });
  }

  // Fuses `ops` unless the kernel builder refuses them.
  bool TryFuse(Instruction& root, const std::vector<Instruction*>& ops, Replacements& replacements,
               std::vector<Instruction*>& order) {
    Instruction* fusion = Fuse(root, ops);
    if (!check_.Accepts(*fusion, root)) {
      module_.computations.pop_back();
      return false;
    }
    replacements[&root] = fusion;
    order.push_back(fusion);
    return true;
  }

  // Creates the fusion of `ops`, which are in the order of the computation, with the root last.
  Instruction* Fuse(Instruction& root, const std::vector<Instruction*>& ops) {
    Computation* fused = module_.NewComputation(module_.arena.CopyString(StrCat("fused_", root.name)));
    fused->at = root.at;
    module_.computations.push_back(fused);
    std::vector<Instruction*> arguments;
    for (const Instruction* hlo : ops) {
      for (Instruction* operand : hlo->operands) {
        if (inside_[operand->index] != nullptr || (ops.size() > 1 && IsInGroup(*operand, root))) continue;
        Instruction* parameter = NewParameter(module_, *fused, operand->shape_, *operand);
        inside_[operand->index] = parameter;
        arguments.push_back(operand);
      }
    }
    for (const Instruction* hlo : ops) {
      absl::InlinedVector<Instruction*, 4> operands;
      for (const Instruction* operand : hlo->operands) operands.push_back(inside_[operand->index]);
      inside_[hlo->index] = CopyInstruction(module_, *fused, *hlo, operands);
    }
    fused->root = inside_[root.index];
    for (const Instruction* hlo : ops) inside_[hlo->index] = nullptr;
    for (const Instruction* hlo : arguments) inside_[hlo->index] = nullptr;
    Instruction* fusion = NewInstruction(module_, computation_, Opcode::kFusion, root.shape_, arguments, root);
    const bool reduces = root.opcode == Opcode::kReduce || root.opcode == Opcode::kReduceWindow;
    SetAttr(*fusion, module_, Op<Opcode::kFusion>::kKind.id,
            EnumValue{static_cast<uint8_t>(reduces ? FusionKind::kInput : FusionKind::kLoop)});
    SetAttr(*fusion, module_, kCalls, fused);
    return fusion;
  }

  Module& module_;
  Computation& computation_;
  KernelCheck& check_;
  const LiveRangeGuard live_ranges_;
  std::vector<std::vector<Instruction*>> users_;
  std::vector<Groups> groups_;
  std::vector<std::vector<Instruction*>> members_;  // by index of the root: members of the group, in reverse order
  std::vector<size_t> ops_;                         // by index of the root: number of members that are not splats
  std::vector<Instruction*> inside_;                // for each instruction, its copy in the fusion that is being built
  absl::flat_hash_map<const Instruction*, LoopSplits> splits_;  // by root; for groups with a concatenate or a pad
  absl::flat_hash_map<std::pair<const Instruction*, const Instruction*>, int64_t> iterations_;  // by root and member
};

}  // namespace

Result<bool> FuseLoops(Module& module, const PassContext& context) {
  const auto embedded = EmbeddedComputations(module);
  KernelCheck check(context);
  bool any = false;
  const std::vector<Computation*> before = module.computations;
  for (Computation* computation : before) {
    if (embedded.contains(computation)) continue;
    SortTopologically(*computation);
    any |= LoopFuser(module, *computation, check).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
