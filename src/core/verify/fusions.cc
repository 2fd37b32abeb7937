// Fused computations belong to one fusion and are used whole.
#include "core/ops/collective.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// An instruction that is there for what it does, not for its result. A collective on a channel is, unless the
// program was partitioned by the compiler, which then knows all users.
bool FusedOpHasSideEffect(const Instruction& hlo, const Module& module) {
  if (HasSideEffect(hlo)) return true;
  return IsCollective(hlo) && (hlo[kConstrainLayout] || (hlo.has(kChannelId) && module.num_partitions == 1));
}

void CheckFused(const Computation& fused, const Instruction& fusion, VerifierContext& inspection) {
  for (const Instruction* hlo : fused.instructions) {
    const auto users = inspection.UsersOf(*hlo);
    if (hlo == fused.root && !users.empty())
      inspection.Add(*hlo, "fused.C2",
                     StrCat("the root of ", fusion.name, "'s computation must not be used inside, but ", users[0]->name,
                            " uses it"));
    if (hlo != fused.root && users.empty() && !FusedOpHasSideEffect(*hlo, inspection.module()))
      inspection.Add(*hlo, "fused.C3", StrCat(hlo->name, " must be used, since it is fused into ", fusion.name));
  }
}

}  // namespace

void CheckFusions(VerifierContext& inspection) {
  for (const Computation* computation : inspection.computations()) {
    const Instruction* owner = nullptr;
    for (const Instruction* caller : inspection.CallersOf(*computation)) {
      if (!IsFusion(*caller)) continue;
      if (owner != nullptr)
        inspection.Add(*caller, "fused.C1",
                       StrCat("computation ", computation->name, " must belong to one fusion, but ", owner->name,
                              " calls it too"));
      if (owner == nullptr) owner = caller;
    }
    if (owner != nullptr) CheckFused(*computation, *owner, inspection);
  }
}

}  // namespace shoal::internal
