// What ops may do with values of the type b(…), memory that is written in place.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// Writes into a buffer it is given, or is taken to: a dynamic-update-slice, and what runs computations or calls.
bool WritesBuffers(const Instruction& hlo);
// Hands buffers on or takes them, whatever else it does.
bool MayHoldBuffers(const Instruction& hlo);
// Updates its first operand, which may be a buffer; the others may not.
bool UpdatesBuffer(const Instruction& hlo);
// Gives buffers whose writers are counted.
bool GivesBuffers(const Instruction& hlo);

}  // namespace shoal::internal
