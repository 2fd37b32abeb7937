// Emits code for a node of a kernel's body by calling the op's Apply with a builder.
#pragma once

#include <span>

#include "compile/codegen/vector_builder.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

// The operands have the types of their nodes and the same number of lanes. The result is rounded to the node's type.
Num ApplyNode(VectorBuilder& builder, const KernelNode& node, std::span<const Num> operands);
// op(x, y), for the binary ops that reductions use.
Num ApplyBinary(VectorBuilder& builder, Opcode opcode, Num x, Num y);

}  // namespace shoal::internal
