// What happens on Ctrl-C: shoal says where it was, removes what it has not finished writing, and ends. Likewise where
// there is no memory left.
#pragma once

#include <string_view>

namespace shoal::internal {

// Also lets a write to a closed pipe be an error instead of the end: `shoal print x | head` ends quietly.
void HandleSignals();

// In a job, safe in a handler of signals: `tell` says to the other processes that this one was told to end, and `is_gone`
// whether one of them is no more. A launcher ends all processes when one of them is killed: who was is said by another
// thread, which is given the time for it. One that does not speak ends without a word.
struct PeersOfProcess {
  void (*tell)() = nullptr;
  bool (*is_gone)() = nullptr;
};
void NotifyPeersOfInterrupt(const PeersOfProcess& peers, bool speaks);

// What is being done, for the message: "reading big.hlo". A handler of signals may read it at any time.
void SetActivity(std::string_view what);

}  // namespace shoal::internal
