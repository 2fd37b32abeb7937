// Outlines consecutive small ops into a call, which runs as a sequence: starting a step takes longer than a small op.
#include <algorithm>
#include <unordered_set>

#include "absl/container/flat_hash_map.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ir/sizes.h"
#include "core/ir/users.h"
#include "core/ops/contraction.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "core/ops/working_types.h"
#include "transform/loops/small_kernels.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

// Fewer ops are not worth a call. For larger ops, the time to start them does not matter.
constexpr int64_t kMinOps = 4, kMaxOpWork = 1 << 13, kMaxOpBytes = 1 << 17;

// True if all leaves are non-empty arrays and together they are small.
bool HasFewBytes(const Shape& shape) {
  const auto leaves = LeafShapes(shape);
  const bool are_few = std::ranges::all_of(leaves, [](const Shape* leaf) {
    const int64_t count = leaf->ElementCount().value_or(0);
    return count > 0 && count <= kMaxOpBytes;
  });
  return are_few && !leaves.empty() && HostBytesOf(shape) <= kMaxOpBytes;
}

bool IsSmall(const Instruction& hlo) {
  for (const Instruction* operand : hlo.operands)
    if (!operand->shape().IsArray() || !HasFewBytes(operand->shape())) return false;
  if (!HasFewBytes(hlo.shape()) || WorkingTypesOf(hlo).mixed) return false;
  if (!hlo[kControlPredecessors].empty()) return false;
  const auto kernels = SmallKernelsOf(hlo);
  if (!kernels || IsNarrowContraction(hlo)) return false;  // the library sums these in another order
  int64_t work = 0;
  for (const SmallKernel& kernel : *kernels)
    if (kernel.kernel) work += SplitReduction(*kernel.kernel) ? kMaxOpWork : kernel.kernel->RowCount() * kernel.kernel->InnerIterations();
  return work < kMaxOpWork;
}

class SmallOpGrouping {
 public:
  SmallOpGrouping(Module& module, Computation& computation) : module_(module), computation_(computation) {
    for (const Instruction* hlo : computation.instructions)
      for (const Instruction* before : (*hlo)[kControlPredecessors]) control_predecessors_.insert(before);
  }

  bool Run() {
    SortTopologically(computation_);  // sets the indices that users_ needs
    const std::vector<Instruction*> all = computation_.instructions;
    if (!all.empty()) users_.Of(*all[0]);  // computes the users of all instructions before new ones are added
    for (Instruction* hlo : all) Visit(*hlo);
    CloseGroup();
    if (grouped_.empty()) return false;
    std::erase_if(computation_.instructions, [&](const Instruction* hlo) { return grouped_.contains(hlo); });
    ApplyReplacements(elements_, module_, computation_);
    return true;
  }

 private:
  // Adds `hlo` to the current group, or closes the group. Structure ops (tuple, get-tuple-element) are never members.
  // If one has a member as operand, it comes after the group, and so do its users.
  void Visit(Instruction& hlo) {
    const bool is_element = IsGetTupleElement(hlo) && members_.contains(hlo.operands[0]);
    const bool is_op = Info(hlo.opcode).op_class != OpClass::kStructure;
    auto is_after_group = [&](const Instruction* operand) { return after_group_.contains(operand); };
    const bool uses_after_group = std::any_of(hlo.operands.begin(), hlo.operands.end(), is_after_group);
    if (!is_op && !is_element) {
      auto is_member = [&](const Instruction* operand) { return members_.contains(operand); };
      if (uses_after_group || std::any_of(hlo.operands.begin(), hlo.operands.end(), is_member)) after_group_.insert(&hlo);
      return;
    }
    const bool is_small = is_element || (!control_predecessors_.contains(&hlo) && IsSmall(hlo));
    if (!is_small || uses_after_group || (is_op && bytes_ > kMaxOpBytes)) CloseGroup();
    if (!is_small) return;
    members_.insert(&hlo);
    order_.push_back(&hlo);
    op_count_ += is_op ? 1 : 0;
    bytes_ += is_op ? HostBytesOf(hlo.shape()) : 0;
  }

  void CloseGroup() {
    if (op_count_ >= kMinOps) OutlineGroup();
    members_.clear();
    after_group_.clear();
    order_.clear();
    op_count_ = bytes_ = 0;
  }

  void OutlineGroup() {
    Instruction& last = *order_.back();
    Computation* callee = module_.NewComputation(module_.arena.CopyString(StrCat("small_", last.name)));
    callee->at = last.at;
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    std::vector<Instruction*> arguments;
    for (const Instruction* hlo : order_) {
      for (Instruction* operand : hlo->operands)
        if (!members_.contains(operand) && !inside.contains(operand)) inside[operand] = ValueInCallee(*operand, *callee, arguments);
    }
    for (const Instruction* hlo : order_) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo->operands) operands.push_back(inside.at(operand));
      inside[hlo] = CopyInstruction(module_, *callee, *hlo, operands);
    }
    const std::vector<Instruction*> outputs = GroupOutputs();
    std::vector<Instruction*> roots;
    for (const Instruction* hlo : outputs) roots.push_back(inside.at(hlo));
    callee->root = roots.size() == 1 ? roots[0] : NewTuple(module_, *callee, roots, last);
    module_.computations.insert(std::find(module_.computations.begin(), module_.computations.end(), &computation_), callee);
    Instruction* call = NewCall(module_, computation_, *callee, arguments, last);
    for (size_t i = 0; i < outputs.size(); ++i)
      elements_[outputs[i]] = outputs.size() == 1 ? call : NewGetTupleElement(module_, computation_, call, static_cast<int64_t>(i), last);
    grouped_.insert(order_.begin(), order_.end());
  }

  // Makes a value from outside available in the callee: a copy of a constant, else a new parameter.
  Instruction* ValueInCallee(Instruction& value, Computation& callee, std::vector<Instruction*>& arguments) {
    if (IsConstant(value)) return CopyInstruction(module_, callee, value, {});
    arguments.push_back(&value);
    return NewParameter(module_, callee, value.shape_, value);
  }

  // The members that are used outside of the group.
  std::vector<Instruction*> GroupOutputs() {
    std::vector<Instruction*> outputs;
    for (Instruction* hlo : order_) {
      const auto users = users_.Of(*hlo);
      const bool is_used_outside = std::ranges::any_of(users, [&](const Instruction* user) { return !members_.contains(user); });
      if (is_used_outside || hlo == computation_.root) outputs.push_back(hlo);
    }
    return outputs;
  }

  Module& module_;
  Computation& computation_;
  Users users_;  // users before the rewrite
  std::unordered_set<const Instruction*> control_predecessors_;  // instructions with control successors
  std::unordered_set<const Instruction*> members_, after_group_, grouped_;
  std::vector<Instruction*> order_;  // the members, in order
  int64_t op_count_ = 0, bytes_ = 0;
  Replacements elements_;
};

// Visits the computations that run instruction by instruction, so not those of fusions and of units.
class GroupingWalk {
 public:
  GroupingWalk(Module& module, const PassContext& context)
      : module_(module), context_(context), embedded_(EmbeddedComputations(module)) {}

  bool Visit(Computation& computation, bool groups) {
    if (embedded_.contains(&computation) || !visited_.insert(&computation).second) return false;
    bool any = groups && SmallOpGrouping(module_, computation).Run();
    for (const Instruction* hlo : computation.instructions) {
      if (!CallsComputations(*hlo) || (context_.compiles_as_unit && context_.compiles_as_unit(*hlo))) continue;
      for (Computation* callee : CalledComputations(*hlo)) any |= Visit(*callee, !IsCall(*hlo));  // a call is a group
    }
    return any;
  }

 private:
  Module& module_;
  const PassContext& context_;
  const absl::flat_hash_set<const Computation*> embedded_;
  std::unordered_set<const Computation*> visited_;
};

}  // namespace

Result<bool> GroupSmallOps(Module& module, const PassContext& context) {
  return GroupingWalk(module, context).Visit(*module.entry, true);
}

}  // namespace shoal::internal
