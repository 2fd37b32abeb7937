#include "analyze/cost/estimated_fusion.h"

#include <algorithm>

#include "analyze/cost/kernel_traffic.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxInlined = 64;  // instructions in one kernel
constexpr size_t kMaxUsers = 4;     // a value with more users is stored, not recomputed in each user

bool IsFusible(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (hlo.opcode == Opcode::kCopy) return false;
  return op_class == OpClass::kElementwise || op_class == OpClass::kIndexMap || hlo.opcode == Opcode::kReduce ||
         hlo.opcode == Opcode::kGather || hlo.opcode == Opcode::kConstant || hlo.opcode == Opcode::kIota ||
         hlo.opcode == Opcode::kDynamicSlice || hlo.opcode == Opcode::kDynamicUpdateSlice;
}

// True for reductions and in-place updates, which XLA never duplicates.
bool IsMaterialized(const Instruction& hlo) {
  return hlo.opcode == Opcode::kReduce || hlo.opcode == Opcode::kDynamicUpdateSlice || hlo.opcode == Opcode::kScatter;
}

bool IsScalarWork(const Instruction& hlo) { return ElementsOf(hlo.shape()) <= 1; }

}  // namespace

bool IsFreeView(const Instruction& hlo) {
  // XLA removes a copy to the same layout.
  if (hlo.opcode == Opcode::kCopy) return hlo.operand_count() == 1 && &hlo.shape() == &hlo.operand_shape(0);
  return hlo.opcode == Opcode::kReshape || hlo.opcode == Opcode::kBitcast;
}

bool EstimatedFusion::MayInline(const Instruction& hlo, Users& users) const {
  const auto uses = users.Of(hlo);
  if (uses.empty() || &hlo == computation_.root) return false;
  const bool all_fusible = std::all_of(uses.begin(), uses.end(), [](const Instruction* user) { return IsFusible(*user); });
  const bool into_contractions = std::all_of(uses.begin(), uses.end(), [](const Instruction* user) {
    return Info(user->opcode).op_class == OpClass::kContraction || IsFusible(*user);
  });
  if (hlo.opcode == Opcode::kConstant || hlo.opcode == Opcode::kIota || IsFreeView(hlo)) return true;
  if (!IsFusible(hlo) || IsMaterialized(hlo)) return hlo.opcode == Opcode::kTranspose && into_contractions;
  if (IsScalarWork(hlo)) return all_fusible;
  if (hlo.opcode == Opcode::kTranspose && into_contractions) return true;
  if (!all_fusible) return false;
  // If few operands are large, reading them again costs no more than reading the stored value.
  const double size = ElementsOf(hlo.shape());
  size_t large = 0;
  for (const Instruction* operand : hlo.operands)
    large += !IsInlined(*operand) && ElementsOf(operand->shape()) >= size / 2;
  return uses.size() == 1 || (uses.size() <= kMaxUsers && large <= 2);
}

EstimatedFusion::EstimatedFusion(const Computation& computation) : computation_(computation) {
  Users users;
  for (const Instruction* hlo : PostOrder(computation))
    if (MayInline(*hlo, users)) inlined_.insert(hlo);
}

FusionRegion EstimatedFusion::RegionOf(const Instruction& root) const {
  std::vector<const Instruction*> body, stack{&root};
  absl::flat_hash_set<const Instruction*> seen{&root};
  if (!IsFusible(root) && Info(root.opcode).op_class != OpClass::kContraction) return {};
  while (!stack.empty()) {
    const Instruction* hlo = stack.back();
    stack.pop_back();
    body.push_back(hlo);
    for (const Instruction* operand : hlo->operands)
      if (IsInlined(*operand) && body.size() < kMaxInlined && seen.insert(operand).second) stack.push_back(operand);
  }
  // Sort operands before users, since the text of an unscheduled module may have any order.
  absl::flat_hash_map<const Instruction*, size_t> position;
  size_t next = 0;
  std::vector<std::pair<const Instruction*, bool>> visits{{&root, false}};
  while (!visits.empty()) {
    auto [hlo, done] = visits.back();
    visits.pop_back();
    if (done) {
      position.try_emplace(hlo, next++);
      continue;
    }
    if (position.contains(hlo)) continue;
    visits.push_back({hlo, true});
    for (const Instruction* operand : hlo->operands)
      if (seen.contains(operand) && !position.contains(operand)) visits.push_back({operand, false});
  }
  std::sort(body.begin(), body.end(), [&](const Instruction* a, const Instruction* b) { return position[a] < position[b]; });
  const Instruction* roots[] = {&root};
  return MakeFusionRegion(body, roots);
}

}  // namespace shoal::internal
