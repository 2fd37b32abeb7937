// A TPU's async collective fusions write one logical collective three times, all with one channel and chain: in a
// fusion that starts it (its result goes into the custom call AsyncCollectiveStart), in one that does other work
// meanwhile, and in one that ends it (AsyncCollectiveDone).
#pragma once

#include <optional>
#include <string_view>

#include "core/ops/collective.h"

namespace shoal::internal {

using ChainKey = std::pair<int64_t, std::string_view>;  // channel and chain

// No value if the collective is in no chain.
std::optional<ChainKey> ChainOf(const Instruction& hlo);

// Whether it is a custom call that takes the results of collectives that begin a chain.
bool StartsChains(const Instruction& hlo);
// Whether such a call takes the result of this collective.
bool BeginsChain(const Instruction& collective);
// The collective among a custom call's operands, and its number; null if there is none.
const Instruction* CollectiveOperand(const Instruction& custom_call, size_t* number);

}  // namespace shoal::internal
