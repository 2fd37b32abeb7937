// Shardy's shardings: how JAX writes, in frontend attributes, what lies between the shapes of all devices and of one in
// a module that is not partitioned yet.
#pragma once

#include <vector>

#include "core/ir/module.h"
#include "core/ir/sharding.h"

namespace shoal::internal {

// Of the operands of an xla.sdy.GlobalToLocalShape, or of the results of an xla.sdy.LocalToGlobalShape: how manual axes
// divide each of them. Empty where the attributes are not there or do not read so.
std::vector<Sharding> ManualShardings(const Module& module, const Instruction& hlo);

// What Shardy says about the results of an instruction, over all axes: xla.sdy.sharding, or the out_shardings of a
// manual region's end. Empty if it says nothing.
std::vector<Sharding> AnnotatedShardings(const Module& module, const Instruction& hlo);
// The meshes that the module's header names.
std::vector<Mesh> StatedMeshes(const Module& module);

}  // namespace shoal::internal
