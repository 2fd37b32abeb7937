// Makes a skeleton shorter: what stands several times in a row, and what matters little, becomes one item.
#pragma once

#include "analyze/summary/skeleton.h"

namespace shoal::internal {

// Replaces repeats among `items` by one item each, also within repeats; new blocks are put into `blocks`.
void FoldRepeats(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks);

// Replaces light fusions in a row by one item; that one of them is done is not told.
void FoldMinorOps(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks, FusionWorks& works);

// The block's hash and number of lines, from its items.
void Measure(SkeletonBlock& block);

// The text with * for the numbers in which the other, equal but for numbers, differs.
std::string WithWildcards(std::string_view text, std::string_view other);

// The same for instructions that look alike: op, types, what they do, whom they join, op_name but for numbers and line.
uint64_t EquivalenceHash(const Instruction& hlo, const LogicalCollective* collective, bool with_operands, const Module& module,
                   FusionWorks& works);
uint64_t Mixed(uint64_t hash, uint64_t more);
// Of a text, whatever the numbers in it.
uint64_t HashIgnoringNumbers(std::string_view text);

}  // namespace shoal::internal
