#include "collectives/chain.h"

#include "ops/families.h"
#include "ops/traits.h"

namespace shoal {
std::optional<ChainKey> ChainOf(const Instruction& hlo) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == "chain_id") return ChainKey(hlo[kChannelId], attribute.value);
  return std::nullopt;
}

bool StartsChains(const Instruction& hlo) {
  return IsCustomCall(hlo) && TargetOf(hlo) == "AsyncCollectiveStart";
}

}  // namespace shoal
