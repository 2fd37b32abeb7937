// The table of loops of elementwise ops with two operands.
#include "kernels/elementwise/kernel_loops.h"

namespace shoal::internal {

const LoopRow& BinaryLoops(Opcode op) {
  static constexpr LoopRow kRows[] = {
#define OP(Name, text, arity) LoopsOf<Opcode::k##Name, arity, 2>(),
#include "core/ops/ops.def"
#undef OP
  };
  return kRows[static_cast<size_t>(op)];
}

}  // namespace shoal::internal
