// The families of rules, each with the prefix of its rule ids. Each check scans the module and adds the errors it
// finds, independently of the other checks. Private to core/verify.
#pragma once

#include "core/verify/verifier_context.h"

namespace shoal::internal {

void CheckInstructions(VerifierContext& context);  // shape, and the rules of each op
void CheckLayouts(VerifierContext& context);       // layout
void CheckEntry(VerifierContext& context);         // entry
void CheckThreads(VerifierContext& context);       // thread
void CheckFusions(VerifierContext& context);       // fused
void CheckSchedule(VerifierContext& context);      // schedule
void CheckAsync(VerifierContext& context);         // async
void CheckAliases(VerifierContext& context);       // alias
void CheckChannels(VerifierContext& context);      // channel
void CheckGroups(VerifierContext& context);        // groups
void CheckShardings(VerifierContext& context);     // sharding
void CheckBuffers(VerifierContext& context);       // buffer

}  // namespace shoal::internal
