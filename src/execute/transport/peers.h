// PeerMonitor: a TCP connection between the first process of a job and each other one, idle until the end of the job.
// Through it the operating system reports failures that MPI does not: a dead process immediately, an unreachable
// machine within eight seconds. A process that is merely stopped does not count as lost.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace shoal::internal {

class PeerMonitor {
 public:
  // To connect, the first process calls Listen, the others call Connect, then the first calls Accept.
  static constexpr int kFirst = 0;
  PeerMonitor(int rank, int size) : rank_(rank), sockets_(static_cast<size_t>(size), -1) {}
  ~PeerMonitor();
  PeerMonitor(const PeerMonitor&) = delete;
  PeerMonitor& operator=(const PeerMonitor&) = delete;

  // First process: returns addresses and port as text for Connect; empty if it cannot listen.
  std::string Listen();
  // Other processes: true if the first process was reached.
  bool Connect(const std::string& addresses);
  // First process: accepts the connections of `count` processes.
  void Accept(int count);

  // Starts monitoring: `lost` is called, on a separate thread, when a process disappears without having left.
  void Watch(std::function<void(int rank)> lost);
  // Announces that this process leaves, as all processes have agreed.
  void Leave();
  // Safe in signal handlers. AnyPeerLost: true if a process disappeared without leaving; `lost` is about to be called.
  // Interrupted: announces that this process received a signal to end.
  static bool AnyPeerLost();
  static void Interrupted();

 private:
  void WatchUntilLeft();
  bool ReadNotice(int peer);

  const int rank_;
  std::vector<int> sockets_;  // by rank; -1: not connected
  std::vector<bool> has_left_, was_interrupted_;
  int listening_ = -1;
  int wake_[2] = {-1, -1};
  std::string cookie_;
  std::function<void(int)> lost_;
  std::jthread thread_;
};

}  // namespace shoal::internal
