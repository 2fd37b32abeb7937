// Which ops compute or move elements, for the question if an engine has code for them.
#pragma once

#include "core/ir/instruction.h"

namespace shoal::internal {

// True if the op itself computes or moves elements, and a loop nest or a kernel could do so. False for control flow,
// communication, tuples, ops that share their operand's memory, and ops that libraries compute (factorizations, FFT,
// custom calls, random bits).
bool HasElementWork(const Instruction& hlo);

}  // namespace shoal::internal
