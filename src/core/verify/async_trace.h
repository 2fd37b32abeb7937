// Where the result of an async op goes. Private to verify/.
#pragma once

#include "core/verify/verifier_context.h"

namespace shoal::internal {

// The async op that `hlo` continues: the nearest async-start, async-update, all-gather-start,
// all-reduce-start or collective-permute-start whose result reaches `hlo`, itself included, through ops that
// hand it on and around loops. Null if there is none.
const Instruction* AsyncProducer(const Instruction& hlo, const VerifierContext& inspection);

// Whether the result of `hlo` goes into a while loop or around one, where its end cannot be told by looking
// at one computation.
bool CrossesLoopBoundary(const Instruction& hlo, VerifierContext& inspection);

}  // namespace shoal::internal
