// The families of rules. Each goes through the module and adds what it finds; none depends on another.
// Private to verify/.
#pragma once

#include "core/verify/inspection.h"

namespace shoal {

void CheckInstructions(Inspection& inspection);  // shape, and the rules of every op
void CheckLayouts(Inspection& inspection);       // layout
void CheckEntry(Inspection& inspection);         // entry
void CheckThreads(Inspection& inspection);       // thread
void CheckFusions(Inspection& inspection);       // fused
void CheckSchedule(Inspection& inspection);      // schedule
void CheckAsync(Inspection& inspection);         // async
void CheckAliases(Inspection& inspection);       // alias
void CheckChannels(Inspection& inspection);      // channel
void CheckGroups(Inspection& inspection);        // groups
void CheckShardings(Inspection& inspection);     // sharding
void CheckBuffers(Inspection& inspection);       // buffer

}  // namespace shoal
