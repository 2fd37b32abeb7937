// Ops with values of type b(…), which are buffers that are written in place.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// Writes to a buffer operand, or is assumed to: dynamic-update-slice, and ops that run computations or custom calls.
bool WritesBuffers(const Instruction& hlo);
// May have buffers as operands or results.
bool MayHoldBuffers(const Instruction& hlo);
// Updates operand 0, which may be a buffer; the other operands may not.
bool UpdatesBuffer(const Instruction& hlo);
// Returns buffers whose writers the verifier counts.
bool ReturnsBuffers(const Instruction& hlo);

}  // namespace shoal::internal
