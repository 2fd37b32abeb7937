// Which instructions become one loop nest. Going from the last instruction to the first, each participants the group of its
// users if all of them are in one; a value that several groups or anybody else wants is a root of its own and is written
// to memory once. What costs nothing to repeat (constants, iota, index maps) goes into every group that wants it.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/new_ops.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/loop_splitting.h"
#include "transform/passes/live_range_guard.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxOps = 160;  // of one group: the time to compile grows with it, and registers are few
constexpr size_t kMaxOpsOfPieces = 1000;  // of all pieces of a group, for the same reason

// How many elements the loops of a group with this root go through.
int64_t RoundsOf(const Instruction& root) {
  if (root.opcode == Opcode::kReduceWindow) {
    int64_t rounds = ElementsOf(root);
    for (const WindowDim& dim : root[kWindow]->dims) rounds *= dim.size;
    return rounds;
  }
  return root.opcode == Opcode::kReduce ? ElementsOf(*root.operands[0]) : ElementsOf(root);
}

// The same bytes under another shape: nothing to do, and nothing to gain by a loop of its own.
bool IsFree(const Instruction& hlo) {
  return hlo.opcode == Opcode::kReshape || hlo.opcode == Opcode::kBitcast || hlo.opcode == Opcode::kCopy;
}

bool IsIndexMap(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kIndexMap; }

// Reading along another dimension than the innermost one would be a gather; transposing in tiles is another kernel.
bool MovesMinor(const Instruction& hlo) {
  const Ints dimensions = hlo[kDimensions];
  return hlo.opcode == Opcode::kTranspose && !dimensions.empty() &&
         dimensions.back() != static_cast<int64_t>(dimensions.size()) - 1 && ElementsOf(hlo) > 64;
}

// Slices that are long are copied as well by a function that fetches ahead.
bool HasLongRuns(const Instruction& gather) {
  constexpr int64_t kLong = 256;  // bytes
  const Ints sizes = gather[Op<Opcode::kGather>::kSliceSizes], dims = gather.operand_shape(0).dims();
  int64_t run = StorageBytes(gather.shape().element_type());
  for (size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    if (sizes[d] != dims[d]) break;
  }
  return run >= kLong;
}

bool IsFusible(const Instruction& hlo) {
  return IsSingleElementConstant(hlo) || (IsLoopOp(hlo) && !MovesMinor(hlo)) || IsSplittableConcat(hlo);
}

// One number, whoever asks: never worth memory.
bool IsOneNumber(const Instruction& hlo) {
  return IsSingleElementConstant(hlo) || (hlo.opcode == Opcode::kBroadcast && IsSingleElementConstant(*hlo.operands[0]));
}

bool IsRepeatable(const Instruction& hlo) { return IsSingleElementConstant(hlo) || (IsIndexMap(hlo) && !IsSplittableConcat(hlo)); }

class Fusing {
 public:
  Fusing(Module& module, Computation& computation) : module_(module), computation_(computation), held_(computation) {}

  bool Run() {
    FindGroups();
    bool any = false;
    Replacements replacements;
    const std::vector<Instruction*> before = computation_.instructions;
    std::vector<Instruction*> order;  // fusions stand where their roots did
    for (Instruction* hlo : before) {
      order.push_back(hlo);
      std::vector<Instruction*> ops = std::move(members_[hlo->index]);
      if (ops.empty() || !IsWorthIt(ops)) continue;
      std::reverse(ops.begin(), ops.end());
      order.push_back(replacements[hlo] = Fuse(*hlo, ops));
      any = true;
    }
    if (!any) return false;
    computation_.instructions = std::move(order);
    Apply(replacements, module_, computation_);
    SortTopologically(computation_);
    return true;
  }

 private:
  using Groups = absl::InlinedVector<Instruction*, 2>;  // by their roots

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
      if (IsLoopReduction(*hlo) || IsLoopWindow(*hlo)) {
        Join(*hlo, hlo);
      } else if (IsFusible(*hlo)) {
        Place(*hlo);
      }
    }
  }

  void Place(Instruction& hlo) {
    Groups wanted;
    bool is_wanted_outside = &hlo == computation_.root;
    for (const Instruction* user : users_[hlo.index]) {
      const Groups& groups = groups_[user->index];
      is_wanted_outside |= groups.empty();
      for (Instruction* root : groups)
        if (std::find(wanted.begin(), wanted.end(), root) == wanted.end()) wanted.push_back(root);
    }
    if (ReadsWhatIsWritten(hlo)) return Join(hlo, &hlo);
    if (IsSplittableConcat(hlo)) return PlacePieces(hlo, is_wanted_outside, wanted);
    if (hlo.opcode == Opcode::kGather && HasLongRuns(hlo) &&
        (is_wanted_outside || wanted.size() != 1 || !MayJoin(hlo, *wanted[0])))
      return;
    if (!IsRepeatable(hlo)) {
      if (!is_wanted_outside && wanted.size() == 1 && MayJoin(hlo, *wanted[0])) return Join(hlo, wanted[0]);
      if (!IsSingleElementConstant(hlo)) Join(hlo, &hlo);
      return;
    }
    for (Instruction* root : wanted) {
      if (MayJoin(hlo, *root))
        Join(hlo, root);
      else
        is_wanted_outside = true;
    }
    if (is_wanted_outside && !IsSingleElementConstant(hlo)) Join(hlo, &hlo);
  }

  // A concatenate or a pad: with the group that wants it, or with what it is put together from. Where neither can be, a
  // copy does as well as a loop.
  void PlacePieces(Instruction& hlo, bool is_wanted_outside, const Groups& wanted) {
    if (!is_wanted_outside && wanted.size() == 1 && MayJoin(hlo, *wanted[0]) &&
        (IsWorthIt(members_[wanted[0]->index]) || HasComputedOperand(hlo)) && Cut(hlo, *wanted[0]))
      return Join(hlo, wanted[0]);
    if (HasComputedOperand(hlo) && Cut(hlo, hlo)) Join(hlo, &hlo);
  }

  // One that would be written to memory only to be read here.
  bool HasComputedOperand(const Instruction& hlo) const {
    return std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
      while (IsFree(*operand) && IsLoopOp(*operand) && users_[operand->index].size() == 1) operand = operand->operands[0];
      if (IsFree(*operand) || IsOneNumber(*operand) || !IsFusible(*operand) || operand->shape().rank() == 0) return false;
      const auto& users = users_[operand->index];
      return IsRepeatable(*operand) || std::all_of(users.begin(), users.end(), [&](const Instruction* user) { return user == users[0]; });
    });
  }

  bool IsInGroup(const Instruction& hlo, const Instruction& root) const {
    const Groups& groups = groups_[hlo.index];
    return std::find(groups.begin(), groups.end(), &root) != groups.end();
  }

  // Cuts the loops of the group so that each piece sees one operand of `hlo`; false where they stay as they are.
  bool Cut(const Instruction& hlo, Instruction& root) {
    const auto users = [this](const Instruction& of) -> const std::vector<Instruction*>& { return users_[of.index]; };
    const auto is_inside = [&](const Instruction& of) { return IsInGroup(of, root); };
    const auto known = cuts_.find(&root);
    std::optional<LoopSplits> cuts = (known == cuts_.end() ? LoopSplits(root) : known->second).With(hlo, users, is_inside);
    if (!cuts || static_cast<size_t>(cuts->Pieces()) * ops_[root.index] > kMaxOpsOfPieces) return false;
    cuts_.insert_or_assign(&root, std::move(*cuts));
    return true;
  }

  // How many elements the loops of a group go through that see `hlo`: below a concatenate these are not all.
  int64_t RoundsOf(const Instruction& hlo, const Instruction& root) const {
    const auto cuts = cuts_.find(&root);
    if (cuts == cuts_.end() || &hlo == &root) return shoal::internal::RoundsOf(root);
    int64_t most = 0;
    for (const Instruction* user : users_[hlo.index]) {
      const auto known = rounds_.find({&root, user});
      int64_t rounds = known == rounds_.end() ? shoal::internal::RoundsOf(root) : known->second;
      if (IsSplittableConcat(*user) && rounds > 0) rounds = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(rounds) * static_cast<double>(ElementsOf(hlo)) / static_cast<double>(ElementsOf(*user))));
      most = std::max(most, rounds);
    }
    return most;
  }

  // A slice of what is written in place is taken before that: with its users it might come too late.
  bool ReadsWhatIsWritten(const Instruction& hlo) const {
    if (hlo.opcode != Opcode::kDynamicSlice) return false;
    const auto& users = users_[hlo.operands[0]->index];
    return std::any_of(users.begin(), users.end(), [](const Instruction* user) {
      return user->opcode == Opcode::kDynamicUpdateSlice || user->opcode == Opcode::kScatter;
    });
  }

  bool MayJoin(const Instruction& hlo, const Instruction& root) const {
    if (IsOneNumber(hlo)) return true;
    const size_t ops = ops_[root.index];
    if (ops >= kMaxOps || held_.ExtendsLiveRanges(hlo, root)) return false;
    if (const auto cuts = cuts_.find(&root); cuts != cuts_.end() && ops * static_cast<size_t>(cuts->second.Pieces()) >= kMaxOpsOfPieces) return false;
    // Evaluated so often for each of its elements.
    const int64_t rounds = RoundsOf(hlo, root);
    if (IsPicked(hlo)) return rounds <= ElementsOf(hlo);
    return rounds <= ElementsOf(hlo) * 3 / 2 || !(IsExpensive(hlo.opcode) || hlo.opcode == Opcode::kGather);
  }

  // A gather takes elements of it from anywhere.
  bool IsPicked(const Instruction& hlo) const {
    if (IsFree(hlo)) return false;
    const auto& users = users_[hlo.index];
    return std::any_of(users.begin(), users.end(), [&](const Instruction* user) {
      return user->opcode == Opcode::kGather && user->operands[0] == &hlo;
    });
  }

  void Join(Instruction& hlo, Instruction* root) {
    groups_[hlo.index].push_back(root);
    members_[root->index].push_back(&hlo);
    ops_[root->index] += IsOneNumber(hlo) ? 0 : 1;
    if (cuts_.contains(root)) rounds_[{root, &hlo}] = RoundsOf(hlo, *root);
  }

  bool IsWorthIt(const std::vector<Instruction*>& ops) const {
    return !std::all_of(ops.begin(), ops.end(),
                        [](const Instruction* hlo) { return IsFree(*hlo) || IsSingleElementConstant(*hlo); });
  }

  // `ops` in the order of the computation; the root last.
  Instruction* Fuse(Instruction& root, const std::vector<Instruction*>& ops) {
    Computation* fused = module_.NewComputation(module_.arena.CopyString(StrCat("fused_", root.name)));
    fused->at = root.at;
    module_.computations.push_back(fused);
    std::vector<Instruction*> arguments;
    for (const Instruction* hlo : ops) {
      for (Instruction* operand : hlo->operands) {
        if (inside_[operand->index] != nullptr || IsInGroup(*operand, root)) continue;
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
  const LiveRangeGuard held_;
  std::vector<std::vector<Instruction*>> users_;
  std::vector<Groups> groups_;
  std::vector<std::vector<Instruction*>> members_;  // of the group with this root, last first
  std::vector<size_t> ops_;                         // how many of them compute something
  std::vector<Instruction*> inside_;                // the copies in the fusion that is being made
  absl::flat_hash_map<const Instruction*, LoopSplits> cuts_;  // of groups with a concatenate or a pad
  absl::flat_hash_map<std::pair<const Instruction*, const Instruction*>, int64_t> rounds_;  // of those: by root and member
};

}  // namespace

Result<bool> FuseLoops(Module& module, const PassContext& context) {
  const auto left_alone = EmbeddedComputations(module);
  bool any = false;
  const std::vector<Computation*> before = module.computations;
  for (Computation* computation : before) {
    if (left_alone.contains(computation)) continue;
    SortTopologically(*computation);
    any |= Fusing(module, *computation).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
