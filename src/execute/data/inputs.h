// Reads the inputs of a run from files.
#pragma once

#include "execute/data/generate.h"

namespace shoal::internal {

// Reads the arguments of every device from a folder or an .npz file. Leaf K on device D is in dD/K.npy, or else in
// K.npy (in an .npz file also in/K/dD and arr_K). K.npy is for all devices. Each receives the whole array, or its shard
// if the parameter has a sharding and the file has the global shape. A failure with a rule id means that the inputs are
// invalid. A failure without a rule id means that the inputs could not be read.
Result<Arguments> ReadArguments(const Module& module, const DeviceGrid& grid, const std::string& path,
                                const Placement* placement = nullptr);

// Returns the arguments recorded in a snapshot for every device. Global arrays are split by the shardings.
Result<Arguments> SnapshotArguments(const Module& module, const DeviceGrid& grid,
                                    std::span<const Literal* const> literals,
                                    const Placement* placement = nullptr);

// The value of a literal of a snapshot, which must outlive the value. Fails if the snapshot omits elements.
Result<Value> RecordedValue(const Literal& literal);

}  // namespace shoal::internal
