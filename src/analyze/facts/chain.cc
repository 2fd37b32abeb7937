#include "analyze/facts/chain.h"

#include <algorithm>

#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"

namespace shoal::internal {
std::optional<ChainKey> ChainOf(const Instruction& hlo) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == "chain_id") return ChainKey(hlo[kChannelId], attribute.value);
  return std::nullopt;
}

bool StartsChains(const Instruction& hlo) {
  const CustomCallFacts* facts = FactsOf(hlo);
  return facts != nullptr && facts->Has(kStartsChain);
}

const Instruction* CollectiveOperand(const Instruction& custom_call, size_t* index) {
  for (size_t i = 0; i < custom_call.operand_count(); ++i) {
    *index = i;
    if (StartsCollective(*custom_call.operands[i])) return custom_call.operands[i];
  }
  return nullptr;
}

bool BeginsChain(const Instruction& hlo) {
  if (!ChainOf(hlo)) return false;
  const std::vector<Instruction*>& siblings = hlo.parent->instructions;
  return std::any_of(siblings.begin(), siblings.end(), [&](const Instruction* user) {
    return StartsChains(*user) && std::find(user->operands.begin(), user->operands.end(), &hlo) != user->operands.end();
  });
}

}  // namespace shoal::internal
