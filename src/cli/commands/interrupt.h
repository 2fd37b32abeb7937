// Handles Ctrl-C and lack of memory: deletes partially written files, prints a message and ends the process.
#pragma once

#include <string_view>

namespace shoal::cli {

// Installs the handlers. A write to a closed pipe becomes an error, so that `shoal print x | head` ends quietly.
void HandleSignals();

// Async-signal-safe callbacks of a process in a job. `notify` tells the other processes that this one was interrupted.
// `is_any_lost` returns true if another process was lost: the launcher then ends all others, so the handler gives the
// monitoring thread time to report the loss. If `prints` is false, the process ends silently.
struct PeerCallbacks {
  void (*notify)() = nullptr;
  bool (*is_any_lost)() = nullptr;
};
void NotifyPeersOfInterrupt(const PeerCallbacks& peers, bool prints);

// Sets the activity that the Ctrl-C message names: "reading big.hlo". The signal handler may read it at any time.
void SetActivity(std::string_view description);

}  // namespace shoal::cli
