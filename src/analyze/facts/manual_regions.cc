#include "analyze/facts/manual_regions.h"

#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"

namespace shoal::internal {

bool IsGlobalToLocal(const Instruction& hlo) {
  return HasTrait(hlo, kGlobalToLocal);
}

std::vector<const Shape*> ReshardResults(const Instruction& hlo) {
  const Shape& shape = hlo.shape();
  if (!shape.IsTuple()) return {&shape};
  return {shape.elements().begin(), shape.elements().end()};
}

bool IsReshardCall(const Instruction& hlo) {
  const std::vector<const Shape*> results = ReshardResults(hlo);
  for (size_t i = 0; i < results.size(); ++i)
    if (results.size() != hlo.operand_count() || !Compatible(*results[i], hlo.operand_shape(i))) return true;
  return false;
}

bool HasManualRegions(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (const CustomCallFacts* facts = FactsOf(*hlo))
        if (facts->Has(kReshards) && IsReshardCall(*hlo)) return true;
  return false;
}

}  // namespace shoal::internal
