// Shortens a skeleton: consecutive repeats, and consecutive minor fusions, become one item.
#pragma once

#include "analyze/summary/skeleton.h"

namespace shoal::internal {

// Replaces each repeat among `items` by one item, also within repeats; adds new blocks to `blocks`.
void FoldRepeats(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks);

// Replaces consecutive minor fusions by one item, and removes their dones.
void FoldMinorOps(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks, FusionWorks& works);

// Computes the hash and the number of lines of a block from its items.
void Measure(SkeletonBlock& block);

// `text` with * for each number that differs in `other`, which must be equal except for numbers.
std::string WithWildcards(std::string_view text, std::string_view other);

// Equal for equivalent instructions: same op, types, label, participants, source line, and op_name ignoring numbers.
uint64_t EquivalenceHash(const Instruction& hlo, const LogicalCollective* collective, bool with_operands,
                         const Module& module, FusionWorks& works);
uint64_t CombineHash(uint64_t hash, uint64_t value);
// The hash of a text, ignoring the numbers in it.
uint64_t HashIgnoringNumbers(std::string_view text);

}  // namespace shoal::internal
