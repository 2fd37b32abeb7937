// Counts the running threads outside thread pools: the threads of devices that are not waiting. A pool runs only as
// many workers as there are free cores, because a worker without a core of its own would slow down the others.
#pragma once

namespace shoal::internal {

// Called when a thread outside a pool starts or stops running.
void AddActiveThread();
void RemoveActiveThread();

}  // namespace shoal::internal
