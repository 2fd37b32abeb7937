// Link: the World of a run, tied to the Worlds of the other processes of a job. Collectives whose members are in several
// processes, transfers from one to another, the end of the run and its failures go through here.
#pragma once

#include <atomic>
#include <map>
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
  // All processes make their links in the same order, with the same module and placement.
  ProcessLink(Job& job, const Placement& placement, const Module& module);
  ~ProcessLink();

  const Placement& placement() const { return placement_; }
  Job& job() { return job_; }
  // How the members lie in the processes; null if all are in this one.
  std::unique_ptr<GroupLayout> LayoutOf(const DeviceGroup& members) const;

  // The world is there, and its devices are about to run.
  void Attach(CollectiveRuntime& world);
  // The devices of this process have ended. Waits for those of all others; why the run was stopped, if it was.
  std::optional<Diag> Join();

  // From devices' threads, without the world's mutex.
  void Begin(const std::shared_ptr<Operation>& operation, std::unique_ptr<Exchange> exchange);
  void Deliver(const Instruction& hlo, const Rendezvous& rendezvous, int64_t number, Arrays arrays);
  void Expect(const std::shared_ptr<Operation>& operation);
  void ExecutionError(const Diag& reason);
  // See World.
  std::unique_ptr<FastRendezvous> NewSmallMeeting(const Instruction& hlo, Rendezvous& rendezvous, size_t rank,
                                                const ArrayTypes& contribution, const ArrayTypes& parts);
  bool TryFastRendezvous(FastRendezvous& meeting, int64_t number, std::span<const std::string_view> parts);
  // Looks for messages as long as `waits`, or until it seems that none will come for a while.
  void PollWhile(const std::function<bool()>& waits);

  // Instructions by number, the same in every process.
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
  struct Exchanging;
  struct Header;
  struct Message;
  // Of one process, for finding the end.
  struct IdleReport {
    bool is_idle = false;  // no device runs, and nothing is on its way from or to it
    int64_t waiting = 0;   // devices
    int64_t sent = 0, received = 0;
    bool operator==(const IdleReport&) const = default;
  };

  // What a message is about: its second word, after the number of the run.
  enum Kind : int64_t { kPart, kDelivery, kStanding, kProbe, kProbeReply, kDescribe, kDeadlock, kStop, kEnd };

  static Key KeyOf(const Operation& operation);
  bool Take(int from, std::string_view bytes);
  void Take(int from, const Message& message);
  void SendBlocks(int to, int64_t kind, const Key& key, Writer body, std::vector<Block> blocks,
                  std::shared_ptr<void> keep);
  static std::string HeadOf(const Header& header, std::span<const int64_t> sizes, const ArrayTypes& blocks, Writer body);
  static void Unpack(const Message& message, const std::vector<std::span<std::byte>>& places);
  void ReceiveBlocks(int from, const Message& message, const std::vector<std::span<std::byte>>& places, Job::Done done);
  void Discard(int from, const Message& message);
  void DiscardEarly();
  bool is_moving() const { return receiving_.load(std::memory_order_relaxed) + sending_.load(std::memory_order_relaxed) > 0; }
  Status SendRound(const std::shared_ptr<Exchanging>& exchanging);
  Status Resume(const std::shared_ptr<Exchanging>& exchanging, const FastRendezvous& meeting);
  Status TakeEarly(const Key& key);
  void TakeEarly(FastRendezvous& meeting);
  Status TakePart(int from, const Message& message);
  static bool CanPlace(const Exchanging& exchanging, size_t process);
  Status Place(const std::shared_ptr<Exchanging>& exchanging, size_t process, const Message& message);
  Status AllCame(const std::shared_ptr<Exchanging>& exchanging);
  Status Match(const Exchanging& exchanging);
  static ArrayTypes BlockTypes(const Exchanging& exchanging, size_t process, const Message& message);
  void ReceivePart(const std::shared_ptr<Exchanging>& exchanging, int from, const Message& message,
                   const std::vector<std::span<std::byte>>& places);
  Status NextRound(const std::shared_ptr<Exchanging>& exchanging);
  void MakeGroups();
  Status Finish(const std::shared_ptr<Exchanging>& exchanging);
  void TakeDelivery(int from, const Message& message);
  void Check(const Status& status);

  // The end of the run: nobody runs, nothing is on its way; asked twice, since answers come one by one (link_end.cc).
  IdleReport Own();
  void ReportIfIdle();
  void TakeControl(int from, int64_t kind, Reader& reader);
  void TakeStanding(int from, const IdleReport& standing);
  void TakeAnswer(int from, const IdleReport& answer);
  void OnQuiescent();
  void TakeStall(std::string_view bytes);
  void SendControl(int to, int64_t kind, std::string_view bytes);
  void BroadcastControl(int64_t kind, std::string_view bytes);
  void Background();

  Job& job_;
  const Placement& placement_;
  const int64_t run_;
  CollectiveRuntime* world_ = nullptr;
  std::vector<const Instruction*> instructions_;
  std::unordered_map<const Instruction*, int64_t> ordinals_;

  // Guarded by the job's mutex.
  std::unordered_map<Key, std::shared_ptr<Exchanging>, KeyHash> exchanging_;
  std::unordered_map<Key, std::shared_ptr<Operation>, KeyHash> expected_;
  std::unordered_map<Key, std::vector<std::pair<int, std::string>>, KeyHash> early_;  // before anybody here asked
  std::unordered_map<uint64_t, int> groups_;  // in which the transport reduces, by rendezvous
  FastRendezvous* soon_ = nullptr;  // at which the device of this process is
  int64_t sent_ = 0, received_ = 0;
  // Blocks on their way. Those that are sent may never be wanted: a stall has such ones, and only receives keep a process
  // from being idle.
  std::atomic<int64_t> receiving_ = 0, sending_ = 0;
  bool is_stopped_ = false, is_joined_ = false;
  std::optional<IdleReport> reported_;
  std::optional<Status> end_;
  // Of the first process alone.
  std::vector<std::optional<IdleReport>> standings_, answers_;
  int64_t asked_ = 0;
  int stalls_expected_ = 0;

  const bool is_crowded_;  // there are more processes on this machine than cores
  std::atomic<bool> is_polled_ = false;  // by a device that waits
  std::atomic<int64_t> polls_ = 0;       // how often one began to
  std::atomic<bool> is_over_ = false;
  std::jthread background_;
};

}  // namespace shoal::internal
