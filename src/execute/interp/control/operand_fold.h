// How the operands of collectives are folded, in the order of the members.
#pragma once

#include "execute/interp/control/device_collective.h"
#include "execute/transport/job.h"

namespace shoal::internal {

// A sum is folded two at a time; a computation of anything else has no meaning here.
Status CheckBinaryReducer(const Instruction& hlo);
// What --reduction=fast leaves to the transport: an op that it knows, the same for all operands.
std::optional<ReduceOp> FastOpOf(const Call& call, size_t count);
// In one process; `spread` makes everybody's results of the sums. Where members are in other processes it is not asked.
Accumulate Folded(const Call& call, size_t count, std::function<Result<std::vector<Arrays>>(const Arrays& sums)> spread);
// Of all operands, by the device itself; null if that is not how they are folded.
FoldPtr FoldLocally(const Call& call);
// Between processes, any thread may be the one that folds.
FoldPtr FoldAcrossProcesses(const Call& call, size_t count);

}  // namespace shoal::internal
