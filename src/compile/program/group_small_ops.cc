// Small steps that follow each other become a call of them, to be run as a sequence.
#include <algorithm>
#include <unordered_set>

#include "absl/container/flat_hash_map.h"
#include "compile/program/program.h"
#include "compile/program/small_kernels.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ir/users.h"
#include "core/ops/contraction.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "core/ops/working_types.h"

namespace shoal::internal {
namespace {

// Fewer steps are not worth a call; more elements in one of them are more than starting it costs.
constexpr int64_t kFewestSteps = 4, kMaxStepWork = 1 << 13, kMaxStepBytes = 1 << 17;

int64_t StoredBytes(const Shape& shape) {
  int64_t bytes = 0;
  for (const Shape* leaf : LeafShapes(shape)) bytes += leaf->ElementCount().value_or(0) * StorageBytes(leaf->element_type());
  return bytes;
}

// Of arrays that are not empty.
bool HasFewBytes(const Shape& shape) {
  const auto leaves = LeafShapes(shape);
  const bool are_few = std::ranges::all_of(leaves, [](const Shape* leaf) {
    const int64_t count = leaf->ElementCount().value_or(0);
    return count > 0 && count <= kMaxStepBytes;
  });
  return are_few && !leaves.empty() && StoredBytes(shape) <= kMaxStepBytes;
}

bool IsSmall(const Instruction& hlo) {
  for (const Instruction* operand : hlo.operands)
    if (!operand->shape().IsArray() || !HasFewBytes(operand->shape())) return false;
  if (!HasFewBytes(hlo.shape()) || WorkingTypesOf(hlo).mixed) return false;
  if (!hlo[kControlPredecessors].empty()) return false;
  const auto kernels = SmallKernelsOf(hlo);
  if (!kernels || IsNarrowContraction(hlo)) return false;  // the library sums those in an order of its own
  int64_t work = 0;
  for (const SmallKernel& kernel : *kernels)
    if (kernel.kernel) work += SplitReduction(*kernel.kernel) ? kMaxStepWork : kernel.kernel->RowCount() * kernel.kernel->InnerIterations();
  return work < kMaxStepWork;
}

class Gathering {
 public:
  Gathering(Module& module, Computation& computation) : module_(module), computation_(computation) {
    for (const Instruction* hlo : computation.instructions)
      for (const Instruction* before : (*hlo)[kControlPredecessors]) awaited_.insert(before);
  }

  void Run() {
    SortTopologically(computation_);  // numbers them, which users go by
    const std::vector<Instruction*> all = computation_.instructions;
    if (!all.empty()) users_.Of(*all[0]);  // of all, before there are others
    for (Instruction* hlo : all) Look(*hlo);
    Close();
    if (gathered_.empty()) return;
    std::erase_if(computation_.instructions, [&](const Instruction* hlo) { return gathered_.contains(hlo); });
    ApplyReplacements(elements_, module_, computation_);
  }

 private:
  // The steps so far, and this one if it belongs to them. What has no step of its own goes past them, unless one of them
  // is among its operands: then what uses it comes after all of them.
  void Look(Instruction& hlo) {
    const bool is_element = IsGetTupleElement(hlo) && members_.contains(hlo.operands[0]);
    const bool is_step = Info(hlo.opcode).op_class != OpClass::kStructure;
    auto is_later = [&](const Instruction* operand) { return later_.contains(operand); };
    const bool uses_later = std::any_of(hlo.operands.begin(), hlo.operands.end(), is_later);
    if (!is_step && !is_element) {
      auto is_member = [&](const Instruction* operand) { return members_.contains(operand); };
      if (uses_later || std::any_of(hlo.operands.begin(), hlo.operands.end(), is_member)) later_.insert(&hlo);
      return;
    }
    const bool is_small = is_element || (!awaited_.contains(&hlo) && IsSmall(hlo));
    if (!is_small || uses_later || (is_step && bytes_ > kMaxStepBytes)) Close();
    if (!is_small) return;
    members_.insert(&hlo);
    order_.push_back(&hlo);
    steps_ += is_step ? 1 : 0;
    bytes_ += is_step ? StoredBytes(hlo.shape()) : 0;
  }

  void Close() {
    if (steps_ >= kFewestSteps) Gather();
    members_.clear();
    later_.clear();
    order_.clear();
    steps_ = bytes_ = 0;
  }

  void Gather() {
    Instruction& last = *order_.back();
    Computation* callee = module_.NewComputation(module_.arena.CopyString(StrCat("small_", last.name)));
    callee->at = last.at;
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    std::vector<Instruction*> arguments;
    for (const Instruction* hlo : order_) {
      for (Instruction* operand : hlo->operands)
        if (!members_.contains(operand) && !inside.contains(operand)) inside[operand] = Enter(*operand, *callee, arguments);
    }
    for (const Instruction* hlo : order_) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo->operands) operands.push_back(inside.at(operand));
      inside[hlo] = CopyInstruction(module_, *callee, *hlo, operands);
    }
    const std::vector<Instruction*> wanted = Wanted();
    std::vector<Instruction*> given;
    for (const Instruction* hlo : wanted) given.push_back(inside.at(hlo));
    callee->root = given.size() == 1 ? given[0] : NewTuple(module_, *callee, given, last);
    module_.computations.insert(std::find(module_.computations.begin(), module_.computations.end(), &computation_), callee);
    Instruction* call = NewCall(module_, computation_, *callee, arguments, last);
    for (size_t i = 0; i < wanted.size(); ++i)
      elements_[wanted[i]] = wanted.size() == 1 ? call : NewGetTupleElement(module_, computation_, call, static_cast<int64_t>(i), last);
    gathered_.insert(order_.begin(), order_.end());
  }

  // What a value from outside is called inside.
  Instruction* Enter(Instruction& value, Computation& callee, std::vector<Instruction*>& arguments) {
    if (IsConstant(value)) return CopyInstruction(module_, callee, value, {});
    arguments.push_back(&value);
    return NewParameter(module_, callee, value.shape_, value);
  }

  // What others than the members ask for.
  std::vector<Instruction*> Wanted() {
    std::vector<Instruction*> wanted;
    for (Instruction* hlo : order_) {
      const auto users = users_.Of(*hlo);
      const bool is_asked = std::ranges::any_of(users, [&](const Instruction* user) { return !members_.contains(user); });
      if (is_asked || hlo == computation_.root) wanted.push_back(hlo);
    }
    return wanted;
  }

  Module& module_;
  Computation& computation_;
  Users users_;  // as it was
  std::unordered_set<const Instruction*> awaited_;  // by others that do not use them
  std::unordered_set<const Instruction*> members_, later_, gathered_;
  std::vector<Instruction*> order_;  // the members
  int64_t steps_ = 0, bytes_ = 0;
  Replacements elements_;
};

}  // namespace

void GroupSmallOps(Module& module, Computation& computation) { Gathering(module, computation).Run(); }

}  // namespace shoal::internal
