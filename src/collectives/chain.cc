#include "collectives/chain.h"

#include "ops/families.h"

namespace shoal {
namespace {

bool Calls(const Instruction& hlo, std::string_view target) {
  return hlo.opcode == Opcode::kCustomCall && hlo[Op<Opcode::kCustomCall>::kTarget] == target;
}

}  // namespace

std::optional<ChainKey> ChainOf(const Instruction& hlo) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == "chain_id") return ChainKey(hlo[kChannelId], attribute.value);
  return std::nullopt;
}

bool StartsChains(const Instruction& custom_call) { return Calls(custom_call, "AsyncCollectiveStart"); }
bool EndsChains(const Instruction& custom_call) { return Calls(custom_call, "AsyncCollectiveDone"); }

}  // namespace shoal
