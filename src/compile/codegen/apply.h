// A node of a kernel's body as code: the op's Apply on a builder.
#pragma once

#include <span>

#include "compile/codegen/vector_builder.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

// The operands are in the types of their nodes and have the same number of lanes. The result is rounded to the node's
// type.
Num ApplyNode(VectorBuilder& builder, const KernelNode& node, std::span<const Num> operands);
// op(x, y), such as a reduction takes.
Num ApplyBinary(VectorBuilder& builder, Opcode opcode, Num x, Num y);

}  // namespace shoal::internal
