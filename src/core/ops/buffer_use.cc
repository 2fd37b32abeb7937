#include "core/ops/buffer_use.h"

#include "core/ops/traits.h"

namespace shoal::internal {

bool UpdatesBuffer(const Instruction& hlo) { return hlo.opcode == Opcode::kDynamicUpdateSlice; }

bool WritesBuffers(const Instruction& hlo) {
  if (IsAsyncChain(hlo)) return !IsAsyncDone(hlo);
  return IsCall(hlo) || IsBranch(hlo) || IsCustomCall(hlo) || IsFusion(hlo) || IsLoop(hlo) || UpdatesBuffer(hlo);
}

bool MayHoldBuffers(const Instruction& hlo) {
  return IsAsyncChain(hlo) || IsCustomCall(hlo) || IsGetTupleElement(hlo) || IsTuple(hlo) || IsLoop(hlo);
}

bool ReturnsBuffers(const Instruction& hlo) {
  return IsCustomCall(hlo) || UpdatesBuffer(hlo) || IsParameter(hlo) || IsLoop(hlo);
}

}  // namespace shoal::internal
