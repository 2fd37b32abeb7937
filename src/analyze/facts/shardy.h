// Shardy shardings, which JAX writes as frontend attributes. In a module that is not partitioned yet they relate global
// shapes to per-device shapes.
#pragma once

#include <vector>

#include "core/ir/module.h"
#include "core/ir/sharding.h"

namespace shoal::internal {

// The shardings by manual axes of the operands of an xla.sdy.GlobalToLocalShape, or of the results of an
// xla.sdy.LocalToGlobalShape. Empty if the attributes are absent or malformed.
std::vector<Sharding> ManualShardings(const Module& module, const Instruction& hlo);

// The Shardy shardings of an instruction's results, over all axes: xla.sdy.sharding, or out_shardings at the end of a
// manual region. Empty if there are none.
std::vector<Sharding> AnnotatedShardings(const Module& module, const Instruction& hlo);
// The meshes that the module header declares.
std::vector<Mesh> DeclaredMeshes(const Module& module);

}  // namespace shoal::internal
