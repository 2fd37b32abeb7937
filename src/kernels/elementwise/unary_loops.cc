// The table of loops of elementwise ops with one operand.
#include "kernels/elementwise/kernel_loops.h"

namespace shoal::internal {

const LoopRow& UnaryLoops(Opcode op) {
  static constexpr LoopRow kRows[] = {
#define OP(Name, text, arity) LoopsOf<Opcode::k##Name, arity, 1>(),
#include "core/ops/ops.def"
#undef OP
  };
  return kRows[static_cast<size_t>(op)];
}

}  // namespace shoal::internal
