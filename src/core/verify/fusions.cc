// A fused computation belongs to one fusion, and each of its instructions is used.
#include "core/ops/collective.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// True for instructions that are needed even if their result is unused. This includes collectives on a channel unless
// the compiler partitioned the program, because it then knows all users.
bool FusedOpHasSideEffect(const Instruction& hlo, const Module& module) {
  if (HasSideEffect(hlo)) return true;
  return IsCollective(hlo) && (hlo[kConstrainLayout] || (hlo.has(kChannelId) && module.num_partitions == 1));
}

void CheckFused(const Computation& fused, const Instruction& fusion, VerifierContext& context) {
  for (const Instruction* hlo : fused.instructions) {
    const auto users = context.UsersOf(*hlo);
    if (hlo == fused.root && !users.empty())
      context.Add(*hlo, "fused.C2",
                  StrCat("the root of ", fusion.name, "'s computation must not have users, but ", users[0]->name,
                         " uses it"));
    if (hlo != fused.root && users.empty() && !FusedOpHasSideEffect(*hlo, context.module()))
      context.Add(*hlo, "fused.C3", StrCat(hlo->name, " must be used, since it is fused into ", fusion.name));
  }
}

}  // namespace

void CheckFusions(VerifierContext& context) {
  for (const Computation* computation : context.computations()) {
    const Instruction* owner = nullptr;
    for (const Instruction* caller : context.CallersOf(*computation)) {
      if (!IsFusion(*caller)) continue;
      if (owner != nullptr)
        context.Add(*caller, "fused.C1",
                    StrCat("computation ", computation->name, " must belong to one fusion, but ", owner->name,
                           " calls it too"));
      if (owner == nullptr) owner = caller;
    }
    if (owner != nullptr) CheckFused(*computation, *owner, context);
  }
}

}  // namespace shoal::internal
