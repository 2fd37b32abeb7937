// Inputs of a run from files.
#pragma once

#include "execute/data/generate.h"

namespace shoal::internal {

// Reads the arguments of every device from a folder or an .npz file. For leaf K on device D it takes, in this order,
// dD/K.npy and K.npy (in an .npz file also in/K/dD and arr_K). A K.npy is for all devices: each gets all of it, or its
// shard where the parameter has a sharding and the file the shape of the whole. A failure with a rule is about what
// the inputs are, one without about reading them.
Result<Arguments> ReadArguments(const Module& module, const DeviceGrid& grid, const std::string& path,
                                const Placement* placement = nullptr);

// The arguments a snapshot recorded, for every device; they may be cut by shardings too.
Result<Arguments> SnapshotArguments(const Module& module, const DeviceGrid& grid,
                                    std::span<const Literal* const> literals,
                                    const Placement* placement = nullptr);

// A literal as a value; it must outlive it.
Value FromLiteral(const Literal& literal);

}  // namespace shoal::internal
