// Peers: a TCP connection between the first process of a job and each other one, over which nothing is said until the
// end. The kernels at its ends notice what MPI does not tell: that a process is gone (at once), or its machine (within
// eight seconds). A process that is only stopped is still there.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace shoal::internal {

class PeerMonitor {
 public:
  // Before any connection: where the first process listens, for the others; and the connections themselves.
  static constexpr int kFirst = 0;
  PeerMonitor(int rank, int size) : rank_(rank), sockets_(static_cast<size_t>(size), -1) {}
  ~PeerMonitor();
  PeerMonitor(const PeerMonitor&) = delete;
  PeerMonitor& operator=(const PeerMonitor&) = delete;

  // The first process: addresses and port, as text for Connect; empty if it cannot listen.
  std::string Listen();
  // Another process: whether it reached the first.
  bool Connect(const std::string& addresses);
  // The first process: takes the connections of so many.
  void Accept(int count);

  // From now on `lost` is called, from a thread of its own, when a process is gone that did not leave.
  void Watch(std::function<void(int rank)> lost);
  // This process is about to leave, as agreed by all.
  void Leave();
  // Safe in a handler of signals: whether a process is gone that did not say it would go, which `lost` is about to hear
  // of; and says that this one was told to end.
  static bool AnyPeerLost();
  static void Interrupted();

 private:
  void WatchUntilLeft();
  bool Heard(int peer);

  const int rank_;
  std::vector<int> sockets_;       // of each process this one is connected to, else -1
  std::vector<bool> has_left_, was_interrupted_;
  int listening_ = -1;
  int wake_[2] = {-1, -1};
  std::string cookie_;
  std::function<void(int)> lost_;
  std::jthread thread_;
};

}  // namespace shoal::internal
