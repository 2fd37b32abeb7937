#include "analyze/facts/global_form.h"

#include <algorithm>

#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool DividesArrays(const Sharding& sharding) {
  using Kind = Sharding::Kind;
  if (sharding.kind == Kind::kTuple)
    return std::any_of(sharding.elements.begin(), sharding.elements.end(), DividesArrays);
  if (sharding.kind == Kind::kNamed)
    return std::any_of(sharding.dimensions.begin(), sharding.dimensions.end(),
                       [](const auto& dimension) { return !dimension.axes.empty(); });
  if (sharding.kind != Kind::kTiled) return false;
  const auto& dims = sharding.tiles.dims;
  const size_t groups = sharding.last_tile_dims.size() + (sharding.replicate_last_dim ? 1 : 0);
  return std::any_of(dims.begin(), dims.end() - static_cast<ptrdiff_t>(std::min(groups, dims.size())),
                     [](int64_t parts) { return parts > 1; });
}

}  // namespace

const Instruction* FirstGlobalSharding(const Module& module) {
  if (module.is_scheduled || module.entry == nullptr || module.entry->name.ends_with("_spmd")) return nullptr;
  const Instruction* first = nullptr;
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (IsCollective(*hlo)) return nullptr;
      const Sharding* sharding = (*hlo)[kSharding];
      const bool states = HasTrait(*hlo, kStatesSharding) || (sharding != nullptr && DividesArrays(*sharding));
      if (first == nullptr && states) first = hlo;
    }
  }
  return first;
}

}  // namespace shoal::internal
