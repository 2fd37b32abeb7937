// Predicates for ops on buffers b(…), which are written in place.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// The op writes, or may write, to a buffer operand: dynamic-update-slice, custom calls, ops that run computations.
bool WritesBuffers(const Instruction& hlo);
// The op may have buffers as operands or results.
bool MayHoldBuffers(const Instruction& hlo);
// The op updates operand 0. That may be a buffer; the other operands may not.
bool UpdatesBuffer(const Instruction& hlo);
// The op returns buffers whose writers the verifier counts.
bool ReturnsBuffers(const Instruction& hlo);

}  // namespace shoal::internal
