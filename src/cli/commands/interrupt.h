// Ctrl-C and lack of memory: shoal reports its current activity, deletes partially written files, and ends.
#pragma once

#include <string_view>

namespace shoal::internal {

// Installs the handlers. A write to a closed pipe becomes an error, so that `shoal print x | head` ends quietly.
void HandleSignals();

// Callbacks of a process in a job, async-signal-safe: `notify` tells the other processes that this one was interrupted;
// `is_any_lost` is true if one of them is gone. A launcher ends all processes when one is killed, so the handler first
// gives the thread that reports the lost process time to do so. Without `prints`, the process ends silently.
struct PeerCallbacks {
  void (*notify)() = nullptr;
  bool (*is_any_lost)() = nullptr;
};
void NotifyPeersOfInterrupt(const PeerCallbacks& peers, bool prints);

// Sets the current activity for the message: "reading big.hlo". A signal handler may read it at any time.
void SetActivity(std::string_view description);

}  // namespace shoal::internal
