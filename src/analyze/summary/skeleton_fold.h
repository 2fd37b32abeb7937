// Shortens a skeleton: folds consecutive repeats, and consecutive minor fusions, into one item.
#pragma once

#include "analyze/facts/source_lines.h"
#include "analyze/summary/skeleton.h"

namespace shoal::internal {

// Replaces each repeat among `items` by one item, and also each repeat within a repeat. Adds new blocks to `blocks`.
void FoldRepeats(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks);

// Replaces consecutive minor fusions by one item, and removes the dones of async minor fusions.
void FoldMinorOps(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks, const FusionWorks& works);

// Computes the hash and the number of lines of a block from its items.
void Measure(SkeletonBlock& block);

// Returns `text` with * for each number that differs in `other`. The two texts must be equal except for numbers.
std::string WithWildcards(std::string_view text, std::string_view other);

// Hashes the op, types, label, participants, source line, and op_name ignoring numbers.
uint64_t EquivalenceHash(const Instruction& hlo, const LogicalCollective* collective, bool with_operands,
                         const SourceLines& sources, const FusionWorks& works);
uint64_t CombineHash(uint64_t hash, uint64_t value);
uint64_t HashIgnoringNumbers(std::string_view text);

}  // namespace shoal::internal
