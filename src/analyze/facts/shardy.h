// Reads Shardy shardings, which JAX writes as frontend attributes. In an unpartitioned module, these shardings relate
// global shapes to per-device shapes.
#pragma once

#include <vector>

#include "core/ir/module.h"
#include "core/ir/sharding.h"

namespace shoal::internal {

// Returns the shardings over manual axes: of the operands of an xla.sdy.GlobalToLocalShape, or of the results of an
// xla.sdy.LocalToGlobalShape. The list is empty if the attributes are absent or malformed.
std::vector<Sharding> ManualShardings(const Module& module, const Instruction& hlo);

// Returns the Shardy shardings of an instruction's results over all axes, from xla.sdy.sharding, or from out_shardings
// at the end of a manual region. The list is empty if the instruction has none.
std::vector<Sharding> AnnotatedShardings(const Module& module, const Instruction& hlo);
std::vector<Mesh> DeclaredMeshes(const Module& module);

}  // namespace shoal::internal
