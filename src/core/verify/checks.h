// The families of rules. Each goes through the module and adds what it finds; none depends on another.
// Private to verify/.
#pragma once

#include "core/verify/verifier_context.h"

namespace shoal::internal {

void CheckInstructions(VerifierContext& inspection);  // shape, and the rules of every op
void CheckLayouts(VerifierContext& inspection);       // layout
void CheckEntry(VerifierContext& inspection);         // entry
void CheckThreads(VerifierContext& inspection);       // thread
void CheckFusions(VerifierContext& inspection);       // fused
void CheckSchedule(VerifierContext& inspection);      // schedule
void CheckAsync(VerifierContext& inspection);         // async
void CheckAliases(VerifierContext& inspection);       // alias
void CheckChannels(VerifierContext& inspection);      // channel
void CheckGroups(VerifierContext& inspection);        // groups
void CheckShardings(VerifierContext& inspection);     // sharding
void CheckBuffers(VerifierContext& inspection);       // buffer

}  // namespace shoal::internal
