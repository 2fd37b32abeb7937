// World: where the devices of a run meet. A collective is an operation: each member arrives with its contribution, the
// last one to arrive works out everybody's result, and each waits until that is done. A transfer from one device to
// another is an operation to which the source comes and goes on at once. Since the world knows who waits for whom, it
// notices at once when nobody can go on, and says why.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "analyze/facts/device_grid.h"
#include "analyze/facts/wire_bytes.h"
#include "core/base/source.h"
#include "core/ops/async_pairs.h"
#include "execute/collectives/contribution.h"

namespace shoal::internal {

// Where a device is in the program, for the explanation of a stall. Only its own thread writes it.
struct ControlFlowState {
  std::map<const Instruction*, int64_t> branches;  // the branch a conditional took last
  std::map<const Instruction*, int64_t> iterations;    // how often a while's body began, the last time it ran
};

// The same where a contribution can be worked in as soon as those of the members before it are, and need not be kept:
// `add` works the next one into `sum`, which is empty at first.
struct Accumulate {
  std::function<Status(Arrays& sum, Arrays next)> add;
  std::function<Result<std::vector<Arrays>>(Arrays sum)> finish;
};

class ProcessLink;
class FastRendezvous;
struct ArrayType;
struct Rendezvous;
struct Operation;

// The groups of one collective, and the rendezvous at which each meets.
struct Groups {
  struct Member {
    int64_t group = -1;  // -1: the device is in none
    int64_t rank = 0;    // among the group's members
  };
  std::vector<DeviceGroup> all;
  std::vector<Member> members;          // of each device
  std::vector<Rendezvous*> rendezvous;  // of each group
};

// The ways data takes in a permute or between send and recv, in the order of the text.
struct Route {
  int64_t source = 0, target = 0;
  int64_t source_turn = 0, target_turn = 0;  // how often the device was a source, or a target, in routes before it
  Rendezvous* rendezvous = nullptr;
};
struct Routes {
  std::vector<Route> all;
  std::vector<std::vector<const Route*>> from, to;  // of each device
};

// A device's part in an operation.
struct Handle {
  std::shared_ptr<Operation> operation;
  size_t rank = 0;
};

// Why a run stops that would need one more.
Diag ThreadCreationError();

class CollectiveRuntime {
 public:
  // `source` is the module's text, for line numbers; may be null. Of the devices, `turns` run at a time. With a link,
  // some of them run in other processes.
  CollectiveRuntime(const DeviceGrid& grid, const Source* source, int64_t turns, ProcessLink* link = nullptr);
  explicit CollectiveRuntime(const DeviceGrid& grid, const Source* source = nullptr) : CollectiveRuntime(grid, source, grid.count()) {}
  ~CollectiveRuntime();

  const DeviceGrid& grid() const { return grid_; }

  // A device begins to run when there is a turn for it; while it waits for others, somebody else has its turn. So no
  // more devices than the machine has cores have half-finished work in memory.
  // Called before a device's thread waits for other devices; false if there is no memory for a thread that goes on with
  // them. Set before the first device runs.
  void SetBlockingHook(std::function<bool()> call) { before_waiting_ = std::move(call); }
  void AcquireRunSlot(int64_t device);
  void ReleaseRunSlot(int64_t device);

  // Worked out once per instruction. Two instructions meet at the same rendezvous if they are the same kind of op, starts
  // included, with the same channel and the same members.
  Result<const Groups*> GroupsOf(const Instruction& hlo);
  // The same where each replica's partitions meet, whatever the instruction says.
  Result<const Groups*> PartitionGroupsOf(const Instruction& hlo);
  // A send or recv that names no pairs goes from each device to itself.
  Result<const Routes*> RoutesOf(const Instruction& hlo);

  // Leaves the contribution of the member of this rank for the others. Does not wait: the n-th arrival of each member belongs
  // to the n-th operation at the rendezvous. The last member to arrive runs `combine`.
  Result<Handle> Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                        const Combine& combine);
  // Whether some members are in other processes. Then arrivals are with an Exchange, which the last member of this
  // process makes; `exchange` must not depend on what the caller has on its stack.
  const GroupLayout* LayoutOf(const Rendezvous& rendezvous) const;
  Handle Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                const MakeExchange& exchange);
  // Where every process has one member, and the parts that these exchange have few bytes: null if it is not so. All come
  // with the same instruction and contributions of these types, or MeetSoon fails.
  std::unique_ptr<FastRendezvous> NewSmallMeeting(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank,
                                                const std::vector<ArrayType>& contribution,
                                                const std::vector<ArrayType>& parts);
  // Arrives and waits, if that takes but a moment. `parts` is what each process is sent. False if somebody is late or
  // comes with something else: then the device arrives as to any collective, and nothing was lost.
  bool TryFastRendezvous(FastRendezvous& meeting, std::span<const std::string_view> parts);
  // Whoever arrives runs `add` for all whose turn it is in the order of the members, unless somebody is at it already.
  Result<Handle> Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                        const Accumulate& accumulate);
  // The two ends of a transfer.
  void Deliver(const Instruction& hlo, const Route& route, Arrays contribution);
  Handle Expect(const Instruction& hlo, const Route& route);

  // This device's part of the result, when all have come. Fails if the run was stopped or can never go on. A result
  // that is not kept for another Wait is handed over, so that its arrays may be the device's alone.
  Result<Arrays> Wait(int64_t device, const Instruction& hlo, const ControlFlowState& control_flow_state, const Handle& handle,
                      bool keep = false);

  // A device has nothing more to do, or has failed, which stops all others.
  void Finish(int64_t device, const ControlFlowState& control_flow_state);
  void Stop(Diag reason);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Why the run was stopped: the first reason given.
  std::optional<Diag> reason() const;

  // For the processes of a job together: how many devices of this one run, and how many wait for others.
  struct DeviceStateCounts {
    int64_t running = 0, waiting = 0;
  };
  DeviceStateCounts CountDeviceStates() const;
  // Where this process's devices are, for the one that explains a stall; and what another process said of its own.
  std::string DescribeWaiting() const;
  void AddWaiting(std::string_view description);
  // Nothing happens any more in any process, and all were described: stops with the explanation.
  void StopDeadlocked();

  // From the device's own thread.
  void Count(int64_t device, Opcode opcode, const Traffic& more);
  // Of each device, by op; starts count as what they start. For after the run.
  std::vector<std::map<Opcode, Traffic>> traffic() const;

 private:
  struct DeviceState;
  struct RendezvousKey;
  friend class DeadlockReport;
  friend class ProcessLink;

  static uint64_t HashOf(const RendezvousKey& key);
  Rendezvous* FindOrCreateRendezvous(const RendezvousKey& key);
  std::unique_ptr<Groups> MakeGroups(const Instruction& hlo, std::vector<DeviceGroup> all);
  // Enters, and leaves the contribution there.
  std::shared_ptr<Operation> Contribute(const Instruction& hlo, Rendezvous& rendezvous, size_t rank, Arrays contribution,
                                        bool& complete);
  std::shared_ptr<Operation> JoinOperation(const Instruction& hlo, Rendezvous& rendezvous, size_t rank);
  Status CheckCompatible(const Operation& operation, size_t member) const;
  Status CompleteOperation(Operation& operation, const Combine& combine);
  Status FoldIn(Operation& operation, const Accumulate& accumulate);
  void CompleteOperation(Operation& operation, std::vector<Arrays> results);
  void Delivered(Operation& operation, const Instruction& source, Arrays arrays);
  void Wake(Operation& operation);
  void PollForRunSlot(std::unique_lock<std::mutex>& lock, const DeviceState& state);
  void GrantRunSlot(DeviceState& state);
  void HandOverRunSlot(DeviceState& state);
  void StopLocked(Diag reason);
  void CheckForDeadlock();

  const DeviceGrid grid_;
  std::function<bool()> before_waiting_;
  const Source* const source_;
  ProcessLink* const link_;  // null: all devices are in this process

  mutable std::mutex mutex_;  // of all that follows
  std::atomic<bool> stopped_ = false;
  std::optional<Diag> reason_;
  std::vector<std::unique_ptr<DeviceState>> devices_;
  int64_t running_ = 0;  // devices of this process that wait for no other; some of them may wait for a turn
  std::vector<std::shared_ptr<Operation>> elsewhere_;  // for which devices of other processes wait, in a stall
  std::atomic<int64_t> free_turns_ = 0;
  bool has_poller_ = false;  // one of the devices that wait looks for messages
  std::deque<DeviceState*> ready_;  // for a turn
  std::map<RendezvousKey, std::unique_ptr<Rendezvous>> rendezvous_;

  mutable std::shared_mutex known_mutex_;
  std::unordered_map<const Instruction*, std::unique_ptr<Groups>> groups_;
  std::unordered_map<const Instruction*, std::unique_ptr<Routes>> routes_;
};

}  // namespace shoal::internal
