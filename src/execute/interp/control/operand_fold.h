// Folds the operands of collectives in member order.
#pragma once

#include "execute/interp/control/device_collective.h"
#include "execute/transport/job.h"

namespace shoal::internal {

// Fails unless the reduction computation takes two scalars.
Status CheckBinaryReducer(const Instruction& hlo);
// The op that the transport performs if --reduction=fast, provided that it supports the op for all operands.
std::optional<ReduceOp> FastOpOf(const Call& call, size_t count);
// Folds within one process; empty if members are in several. `distribute` turns the sums into one result per member.
Accumulate MakeAccumulate(const Call& call, size_t count,
                          std::function<Result<std::vector<Arrays>>(const Arrays& sums)> distribute);
// Folds all operands on the device itself. Null if they must be folded in another way.
FoldPtr FoldLocally(const Call& call);
// Folds across processes, on any thread.
FoldPtr FoldAcrossProcesses(const Call& call, size_t count);

}  // namespace shoal::internal
