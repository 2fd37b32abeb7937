// In a TPU's async collective fusions, one logical collective appears three times, with the same channel and chain. The
// first fusion starts it; its result is an operand of the custom call AsyncCollectiveStart. The second overlaps other
// work with it. The third ends it (AsyncCollectiveDone).
#pragma once

#include <optional>
#include <string_view>

#include "core/ops/collective.h"

namespace shoal::internal {

using ChainKey = std::pair<int64_t, std::string_view>;  // channel and chain

// Returns nullopt if the collective does not belong to a chain.
std::optional<ChainKey> ChainOf(const Instruction& hlo);

// True for a custom call whose operands are the results of collectives that begin a chain.
bool StartsChains(const Instruction& hlo);
// True if the result of this collective is an operand of such a call.
bool BeginsChain(const Instruction& collective);
// The first collective among a custom call's operands, and its operand index. Null if there is none.
const Instruction* CollectiveOperand(const Instruction& custom_call, size_t* index);

}  // namespace shoal::internal
