// Sinks values that each device computes from a shared result to just before their first use. While devices wait at a
// collective, all members of the group share one result array, but each device stores its own computed values.
#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMinBytes = int64_t{1} << 20;

// True if several devices share one buffer for the value.
bool IsShared(const Instruction& hlo) {
  const Instruction* at = &hlo;
  while (IsReshape(*at) || IsBitcast(*at) || IsGetTupleElement(*at)) at = at->operands[0];
  return IsConstant(*at) || HasUniformResult(*at);
}

bool IsSinkable(const Instruction& hlo) {
  const int64_t bytes = HostBytesOf(hlo.shape());
  if (!hlo.shape().IsArray() || bytes < kMinBytes || !IsPureAndMovable(hlo) || !hlo[kControlPredecessors].empty() || IsShared(hlo)) return false;
  int64_t own = 0;
  for (const Instruction* operand : hlo.operands) {
    if (!operand->shape().IsArray()) return false;
    if (!IsShared(*operand)) own = SaturatingAdd(own, HostBytesOf(operand->shape()));
  }
  return own <= bytes / 8;
}

// Moves each sinkable value before its first user. Works backwards, so that chains of values move together.
bool SinkValues(Computation& computation) {
  auto& all = computation.instructions;
  std::vector<const Instruction*> first_user(all.size(), nullptr);
  std::vector<size_t> position_of(all.size());
  std::vector<std::vector<Instruction*>> before(all.size());  // values to place before each user, by its index
  bool any = false;
  for (size_t i = all.size(); i-- > 0;) {
    Instruction* hlo = all[i];
    const Instruction* user = first_user[i];
    const bool late = user != nullptr && IsSinkable(*hlo) && user->index > i + 1;
    position_of[i] = late ? position_of[user->index] : i;
    if (late) before[user->index].push_back(hlo);
    any = any || late;
    const auto use = [&](const Instruction* used) {
      const Instruction*& first = first_user[used->index];
      if (first == nullptr || position_of[i] <= position_of[first->index]) first = hlo;
    };
    std::ranges::for_each(hlo->operands, use);
    std::ranges::for_each((*hlo)[kControlPredecessors], use);
  }
  if (!any) return false;
  std::vector<Instruction*> order;
  auto place = [&](auto&& self, Instruction* hlo) -> void {
    for (auto late = before[hlo->index].rbegin(); late != before[hlo->index].rend(); ++late) self(self, *late);
    order.push_back(hlo);
  };
  for (Instruction* hlo : all)
    if (position_of[hlo->index] == hlo->index) place(place, hlo);
  all = std::move(order);
  computation.as_written.clear();
  for (size_t i = 0; i < all.size(); ++i) all[i]->index = static_cast<uint32_t>(i);
  return true;
}

}  // namespace

Result<bool> SinkPerDeviceValues(Module& module, const PassContext&) {
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations)
    if (!embedded.contains(computation)) any |= SinkValues(*computation);
  return any;
}

}  // namespace shoal::internal
