// Job: this process among those that a launcher started together. Everything that moves between them goes through
// here; whoever has nothing better to do polls.
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
  // All processes come here together.
  explicit Job(std::unique_ptr<Communicator> communicator);
  // And leave together.
  ~Job();

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  bool is_root() const { return rank() == 0; }
  // Whether the transport may reduce in an order of its own.
  bool fast_reduction = false;
  const std::string& host(int rank) const { return hosts_[static_cast<size_t>(rank)]; }
  std::string library() const { return communicator_->library(); }
  bool spans_hosts() const;
  // Processes, this one too, that may run on the same cores of this machine; and how many threads that leaves each.
  int sharing_cores() const;
  int cores() const;
  // "rank 2 on node7", or "rank 2" where all are on one machine.
  std::string Describe(int rank) const;

  // Each of these is called by all processes, in the same order. They wait.
  std::vector<std::string> Gather(std::string mine);  // of each process, at rank 0; elsewhere nothing
  std::string Broadcast(std::string bytes);           // what rank 0 gave
  Status AgreeOnStatus(const Status& mine);                   // the failure of the first process that has one

  // A process that is gone: from a thread of its own. The first to be told is the lowest rank that can be.
  void OnProcessLost(std::function<void(int rank)> lost);

  // Messages between the parts of a run, one handler at a time. What a handler does not take is kept for the next.
  using Handler = std::function<bool(int from, std::string_view bytes)>;
  void SetHandler(Handler handler);
  void Post(int to, std::string_view head, std::string_view rest = {});
  // Large ones, in pieces. `done` is called by whoever polls.
  using Done = std::function<void()>;
  void Send(int to, int tag, std::span<const std::byte> bytes, Done done);
  void Receive(int from, int tag, std::span<std::byte> bytes, Done done);
  int NextTag();
  // Made once for each name; all processes make the same, in the same order.
  int FindOrMakeGroup(uint64_t name, std::span<const int> ranks);
  void AllReduce(int group, ReduceOp op, ReduceType type, std::byte* data, int64_t count, Done done);

  // Handles what has come; whether anything had. TryPoll does nothing while another thread is at it.
  bool Poll();
  bool TryPoll();
  // Lets large ones move on; none is handled.
  void Advance();
  // Handles one message, if one has come; with the mutex held.
  bool TakeOne();
  void PollUntil(const std::function<bool()>& reached);

  // Handlers run with it held.
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  struct Transfer {
    std::vector<std::unique_ptr<Communicator::Request>> pieces;
    Done done;
  };
  void Take(int from, std::string_view message);
  bool PollLocked();
  bool AdvanceTransfers();

  std::recursive_mutex mutex_;  // of all that follows
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<PeerMonitor> peers_;
  std::vector<std::string> hosts_, cores_;  // of each process: its machine's name, and on which cores it may run
  std::vector<std::list<std::string>> gathered_;  // of each process: what came and was not asked for yet
  std::list<std::string> broadcast_;
  Handler handler_;
  std::list<std::pair<int, std::string>> kept_;  // from whom, and what
  const Communicator::Take take_ = [this](int from, std::string_view message) { Take(from, message); };
  std::list<Transfer> transfers_;
  int next_tag_ = 0;
  uint32_t idle_polls_ = 0;
  std::map<uint64_t, int> groups_;
};

}  // namespace shoal::internal
