// On TPUs, a logical collective may be spread over three fusions with the same channel and chain id. The first fusion
// starts the collective; its result is an operand of the custom call AsyncCollectiveStart. The second fusion overlaps
// the collective with other work. The third fusion ends the collective with AsyncCollectiveDone.
#pragma once

#include <optional>
#include <string_view>

#include "core/ops/collective.h"

namespace shoal::internal {

using ChainKey = std::pair<int64_t, std::string_view>;  // channel id and chain id

// Returns nullopt if the collective does not belong to a chain.
std::optional<ChainKey> ChainOf(const Instruction& hlo);

// True for the custom call AsyncCollectiveStart, whose operands are the results of collectives that begin a chain.
bool StartsChains(const Instruction& hlo);
// True if the result of this collective is an operand of an AsyncCollectiveStart.
bool BeginsChain(const Instruction& collective);
// Returns the first collective among the operands of a custom call, or null. Sets `index` to its operand index.
const Instruction* CollectiveOperand(const Instruction& custom_call, size_t* index);

}  // namespace shoal::internal
