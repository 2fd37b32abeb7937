// Job: the processes that a launcher started together, as seen from this process. All traffic between them passes
// through this class. Any idle thread polls for messages.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/result.h"
#include "execute/transport/communicator.h"
#include "execute/transport/peers.h"

namespace shoal::internal {

class Job {
 public:
  // Collective: all processes create and destroy the job together.
  explicit Job(std::unique_ptr<Communicator> communicator);
  ~Job();

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  bool is_root() const { return rank() == 0; }
  // True if the transport may reduce in any order.
  bool fast_reduction = false;
  const std::string& host(int rank) const { return hosts_[static_cast<size_t>(rank)]; }
  std::string library() const { return communicator_->library(); }
  bool spans_hosts() const;
  // sharing_cores: number of processes, including this one, that share this process's cores. cores: cores for each.
  int sharing_cores() const;
  int cores() const;
  // The process as text: "rank 2 on node7", or "rank 2" if all processes are on one machine.
  std::string Describe(int rank) const;

  // Collective and blocking: all processes must call these in the same order.
  std::vector<std::string> Gather(std::string mine);  // at rank 0: one string per rank; at other ranks: empty
  std::string Broadcast(std::string bytes);           // returns the argument of rank 0
  Status AgreeOnStatus(const Status& mine);           // returns the failure of the lowest rank that failed

  // Calls `lost` on a separate thread when a process is lost. The lowest surviving rank is notified first.
  void OnProcessLost(std::function<void(int rank)> lost);

  // Small messages of a run. A message for which the current handler returns false is kept for the next handler.
  using Handler = std::function<bool(int from, std::string_view bytes)>;
  void SetHandler(Handler handler);
  void Post(int to, std::string_view head, std::string_view rest = {});
  // Large transfers, in chunks. Calls `done` on the polling thread.
  using Done = std::function<void()>;
  void Send(int to, int tag, std::span<const std::byte> bytes, Done done);
  void Receive(int from, int tag, std::span<std::byte> bytes, Done done);
  int NextTag();
  // Creates one group per name. All processes must create the same groups in the same order.
  int FindOrMakeGroup(uint64_t name, std::span<const int> ranks);
  void AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data, int64_t count, Done done);

  // Handles all received messages; true if there were any. TryPoll returns immediately if another thread is polling.
  bool Poll();
  bool TryPoll();
  // Advances large transfers without handling messages.
  void Advance();
  // Handles one received message, if any. The caller holds the mutex.
  bool TakeOne();
  void PollUntil(const std::function<bool()>& reached);

  // Held while handlers run.
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  struct Transfer {
    std::vector<std::unique_ptr<Communicator::Request>> chunks;
    Done done;
  };
  void Take(int from, std::string_view message);
  bool PollLocked();
  bool AdvanceTransfers();

  std::recursive_mutex mutex_;  // guards all members below
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<PeerMonitor> peers_;
  std::vector<std::string> hosts_, cores_;        // by rank: host name, and the cores on which the process may run
  std::vector<std::list<std::string>> gathered_;  // for each rank: messages that Gather has not returned yet
  std::list<std::string> broadcast_;
  Handler handler_;
  std::list<std::pair<int, std::string>> kept_;  // (rank of the sender, message), for the next handler
  const Communicator::Take take_ = [this](int from, std::string_view message) { Take(from, message); };
  std::list<Transfer> transfers_;
  int next_tag_ = 0;
  uint32_t idle_polls_ = 0;
  std::map<uint64_t, int> groups_;
};

}  // namespace shoal::internal
