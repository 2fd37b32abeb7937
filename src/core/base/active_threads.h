// How many threads besides the workers of pools have a core of the machine: the devices of a run that are not waiting.
// Workers of a pool help where cores are left: help without a core only gets in the way.
#pragma once

namespace shoal::internal {

// One more thread runs from now on, or one fewer.
void AddActiveThread();
void RemoveActiveThread();

}  // namespace shoal::internal
