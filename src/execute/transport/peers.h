// PeerMonitor: a TCP connection between the first process of a job and each other process, idle until the end of the
// job. Through it, the operating system reports failures that MPI does not report: a dead process immediately, an
// unreachable machine within eight seconds. A stopped process (SIGSTOP) does not count as lost.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace shoal::internal {

class PeerMonitor {
 public:
  // To connect, the first process calls Listen, the others call Connect, then the first process calls Accept.
  static constexpr int kFirst = 0;
  PeerMonitor(int rank, int size) : rank_(rank), sockets_(static_cast<size_t>(size), -1) {}
  ~PeerMonitor();
  PeerMonitor(const PeerMonitor&) = delete;
  PeerMonitor& operator=(const PeerMonitor&) = delete;

  // First process: returns addresses and port as text for Connect; empty if it cannot listen.
  std::string Listen();
  // Other processes: true if the connection to the first process succeeded.
  bool Connect(const std::string& addresses);
  // First process: accepts the connections of `count` processes.
  void Accept(int count);

  // Starts monitoring. Calls `lost` on a separate thread when a process disappears without having left.
  void Watch(std::function<void(int rank)> lost);
  // Announces that this process leaves; all processes must have agreed to leave.
  void Leave();
  // Safe in signal handlers. AnyPeerLost: true if a process disappeared without leaving; `lost` will be called soon.
  // Interrupted: announces that this process received a signal to terminate.
  static bool AnyPeerLost();
  static void Interrupted();

 private:
  void WatchUntilLeft();
  bool ReadNotice(int peer);

  const int rank_;
  std::vector<int> sockets_;  // indexed by rank; -1: not connected
  std::vector<bool> has_left_, was_interrupted_;
  int listening_ = -1;
  int wake_[2] = {-1, -1};
  std::string cookie_;
  std::function<void(int)> lost_;
  std::jthread thread_;
};

}  // namespace shoal::internal
