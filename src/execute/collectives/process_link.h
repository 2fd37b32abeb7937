// ProcessLink: connects the CollectiveRuntime of a run to those of the other processes of a job. It handles collectives
// with members in several processes, transfers between processes, the end of the run and failures.
#pragma once

#include <atomic>
#include <thread>
#include <unordered_map>

#include "execute/collectives/exchange.h"
#include "execute/collectives/collective_runtime.h"
#include "execute/transport/job.h"
#include "execute/transport/message_buffer.h"
#include "execute/transport/placement.h"

namespace shoal::internal {

class ProcessLink {
 public:
  // All processes create their links in the same order, with the same module and placement.
  ProcessLink(Job& job, const Placement& placement, const Module& module);
  ~ProcessLink();

  const Placement& placement() const { return placement_; }
  Job& job() { return job_; }
  // The distribution of the members over processes; null if all members are in this process.
  std::unique_ptr<GroupLayout> LayoutOf(const DeviceGroup& members) const;

  // Sets the runtime. Call this before the runtime's devices run.
  void Attach(CollectiveRuntime& runtime);
  // Call this when the devices of this process have ended. Waits until the devices of all other processes have ended.
  // If the run was stopped, returns the reason.
  std::optional<Diag> Join();

  // Called on the threads of devices, without holding the runtime's mutex.
  void Begin(const std::shared_ptr<Operation>& operation, std::unique_ptr<Exchange> exchange);
  void Deliver(const Instruction& hlo, const Rendezvous& rendezvous, int64_t number, Arrays arrays);
  void Expect(const std::shared_ptr<Operation>& operation);
  void OnStopped(const Diag& reason);
  std::unique_ptr<FastRendezvous> NewFastRendezvous(const Instruction& hlo, Rendezvous& rendezvous, size_t rank,
                                                    const ArrayTypes& contribution, const ArrayTypes& parts);
  bool TryFastRendezvous(FastRendezvous& fast, int64_t number, std::span<const std::string_view> parts);
  // Polls for messages while `waits` returns true. Gives up earlier if no message arrives for a while.
  void PollWhile(const std::function<bool()>& waits);

  // The ordinal of an instruction is identical in every process.
  int64_t OrdinalOf(const Instruction& hlo) const { return ordinals_.at(&hlo); }
  const Instruction* InstructionAt(int64_t ordinal) const;

 private:
  struct Key {
    uint64_t rendezvous = 0;
    int64_t number = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.rendezvous * 31 + static_cast<uint64_t>(key.number); }
  };
  struct PendingExchange;
  struct Header;
  struct Message;
  // The state of one process, for termination detection.
  struct IdleReport {
    bool is_idle = false;  // no device runs, and no receive is pending
    int64_t waiting = 0;   // number of waiting devices
    int64_t sent = 0, received = 0;  // numbers of messages
    bool operator==(const IdleReport&) const = default;
  };

  // The kind of a message is its second word; the first is the number of the run.
  enum Kind : int64_t { kPart, kDelivery, kIdle, kProbe, kProbeReply, kDescribe, kDescription, kStop, kEnd };

  static Key KeyOf(const Operation& operation);
  bool Take(int from, std::string_view bytes);
  void Take(int from, const Message& message);
  void SendBlocks(int to, int64_t kind, const Key& key, Writer body, std::vector<Block> blocks,
                  std::shared_ptr<void> keep);
  static std::string HeadOf(const Header& header, std::span<const int64_t> sizes, const ArrayTypes& blocks,
                            Writer body);
  static void Unpack(const Message& message, const std::vector<std::span<std::byte>>& buffers);
  void ReceiveBlocks(int from, const Message& message, const std::vector<std::span<std::byte>>& buffers,
                     Job::Done done);
  void Discard(int from, const Message& message);
  void DiscardEarly();
  bool has_transfers() const {
    return receiving_.load(std::memory_order_relaxed) + sending_.load(std::memory_order_relaxed) > 0;
  }
  Status SendRound(const std::shared_ptr<PendingExchange>& pending);
  Status Resume(const std::shared_ptr<PendingExchange>& pending, const FastRendezvous& fast);
  Status TakeEarly(const Key& key);
  void TakeEarly(FastRendezvous& fast);
  Status TakePart(int from, const Message& message);
  static bool CanReceiveNow(const PendingExchange& pending, size_t process);
  Status StartReceive(const std::shared_ptr<PendingExchange>& pending, size_t process, const Message& message);
  Status OnAllArrived(const std::shared_ptr<PendingExchange>& pending);
  Status CheckArrivals(const PendingExchange& pending);
  static ArrayTypes BlockTypes(const PendingExchange& pending, size_t process, const Message& message);
  void ReceivePart(const std::shared_ptr<PendingExchange>& pending, int from, const Message& message,
                   const std::vector<std::span<std::byte>>& buffers);
  Status NextRound(const std::shared_ptr<PendingExchange>& pending);
  void MakeGroups();
  Status Finish(const std::shared_ptr<PendingExchange>& pending);
  void TakeDelivery(int from, const Message& message);
  void Check(const Status& status);

  // Detects the end of the run: all processes are idle and no message is in flight (termination_detection.cc).
  IdleReport OwnReport();
  void ReportIfIdle();
  void TakeControl(int from, int64_t kind, Reader& reader);
  void TakeIdleReport(int from, const IdleReport& report);
  void TakeProbeReply(int from, const IdleReport& reply);
  void OnQuiescent();
  void TakeDescription(std::string_view bytes);
  void SendControl(int to, int64_t kind, std::string_view bytes);
  void BroadcastControl(int64_t kind, std::string_view bytes);
  void Background();

  Job& job_;
  const Placement& placement_;
  const int64_t run_;
  CollectiveRuntime* runtime_ = nullptr;
  std::vector<const Instruction*> instructions_;
  std::unordered_map<const Instruction*, int64_t> ordinals_;

  // Guarded by the job's mutex. early_messages_ has the messages of operations that have not started in this process.
  std::unordered_map<Key, std::shared_ptr<PendingExchange>, KeyHash> pending_exchanges_;
  std::unordered_map<Key, std::shared_ptr<Operation>, KeyHash> expected_;
  std::unordered_map<Key, std::vector<std::pair<int, std::string>>, KeyHash> early_messages_;
  std::unordered_map<uint64_t, int> groups_;  // for each rendezvous hash, the group in which the transport reduces
  FastRendezvous* fast_ = nullptr;            // the fast rendezvous in progress
  int64_t sent_ = 0, received_ = 0;
  // Numbers of blocks in flight. In a deadlock, sent blocks may never be received, so a process with pending sends can
  // be idle. A process with pending receives is not idle.
  std::atomic<int64_t> receiving_ = 0, sending_ = 0;
  bool is_stopped_ = false, is_joined_ = false;
  std::optional<IdleReport> reported_;
  std::optional<Status> end_;
  // Used by the first process only.
  std::vector<std::optional<IdleReport>> idle_reports_, probe_replies_;  // indexed by rank
  int64_t probe_number_ = 0;
  int missing_descriptions_ = 0;

  const bool is_crowded_;  // this machine has more processes than cores
  std::atomic<bool> is_polled_ = false;  // a waiting device is polling
  std::atomic<int64_t> polls_ = 0;       // number of times a device started to poll
  std::atomic<bool> is_over_ = false;
  std::jthread background_;
};

}  // namespace shoal::internal
