// Shardy shardings, which JAX writes as frontend attributes. In a module that is not partitioned yet they relate global
// shapes to per-device shapes.
#pragma once

#include <vector>

#include "core/ir/module.h"
#include "core/ir/sharding.h"

namespace shoal::internal {

// Returns the shardings over manual axes: for an xla.sdy.GlobalToLocalShape those of the operands, for an
// xla.sdy.LocalToGlobalShape those of the results. Empty if the attributes are absent or malformed.
std::vector<Sharding> ManualShardings(const Module& module, const Instruction& hlo);

// The Shardy shardings of an instruction's results, over all axes: xla.sdy.sharding, or out_shardings at the end of a
// manual region. Empty if there are none.
std::vector<Sharding> AnnotatedShardings(const Module& module, const Instruction& hlo);
// The meshes that the module header declares.
std::vector<Mesh> DeclaredMeshes(const Module& module);

}  // namespace shoal::internal
