// Traces the results of async ops. Private to core/verify.
#pragma once

#include "core/verify/verifier_context.h"

namespace shoal::internal {

// The async op that `hlo` continues: `hlo` itself or the nearest async-start, async-update, all-gather-start,
// all-reduce-start or collective-permute-start whose result reaches `hlo` through forwarding ops and loop state.
// Null if there is none.
const Instruction* AsyncProducer(const Instruction& hlo, const VerifierContext& context);

// True if the result of `hlo` enters the state of a while loop, so that its done cannot be found within one
// computation.
bool CrossesLoopBoundary(const Instruction& hlo, VerifierContext& context);

}  // namespace shoal::internal
