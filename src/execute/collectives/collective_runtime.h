// CollectiveRuntime: executes the collectives of a run. Each execution of a collective is an operation. Every member
// arrives with its contribution, the last arriver computes all results, and each member waits for its result. A
// transfer between two devices is an operation at which the source does not wait. If the wait-for graph shows a
// deadlock, the runtime immediately reports the deadlock and its cause.
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

// A device's position in the control flow, for deadlock reports. Only the device's own thread writes it.
struct ControlFlowState {
  std::map<const Instruction*, int64_t> branches;    // for each conditional, the branch taken last
  std::map<const Instruction*, int64_t> iterations;  // for each while, the iterations started in its latest execution
};

// Like Combine, but folds each contribution as soon as those of all lower ranks are folded, and then releases it. `add`
// folds `next` into `sum`, which is initially empty.
struct Accumulate {
  std::function<Status(Arrays& sum, Arrays next)> add;
  std::function<Result<std::vector<Arrays>>(Arrays sum)> finish;
};

class ProcessLink;
class ThreadPool;
class FastRendezvous;
struct ArrayType;
struct Rendezvous;
struct Operation;

// The device groups of a collective, and the rendezvous at which each group meets.
struct Groups {
  struct Member {
    int64_t group = -1;  // -1: the device is in no group
    int64_t rank = 0;    // the device's position in the group
  };
  std::vector<DeviceGroup> all;
  std::vector<Member> members;          // indexed by device
  std::vector<Rendezvous*> rendezvous;  // indexed by group
};

// The source-target pairs of a permute, or of send and recv, in text order.
struct Route {
  int64_t source = 0, target = 0;
  int64_t source_index = 0, target_index = 0;  // index among the routes with the same source, or with the same target
  Rendezvous* rendezvous = nullptr;
};
struct Routes {
  std::vector<Route> all;
  std::vector<std::vector<const Route*>> from, to;  // indexed by device
};

// A device's participation in an operation.
struct Handle {
  std::shared_ptr<Operation> operation;
  size_t rank = 0;
};

class CollectiveRuntime {
 public:
  // `source` is the module's text, for line numbers in messages; it may be null. At most `run_slots` devices run at a
  // time; `pool`, which may be null, learns how many do. If there is a link, some devices run in other processes.
  CollectiveRuntime(const DeviceGrid& grid, const Source* source, int64_t run_slots, ProcessLink* link = nullptr,
                    ThreadPool* pool = nullptr);
  explicit CollectiveRuntime(const DeviceGrid& grid, const Source* source = nullptr)
      : CollectiveRuntime(grid, source, grid.count()) {}
  ~CollectiveRuntime();

  const DeviceGrid& grid() const { return grid_; }

  // Sets a function that is called before a device's thread blocks, to start a thread for other devices. The function
  // returns false if there is not enough memory for a thread. Call this before the first device runs.
  void SetBlockingHook(std::function<bool()> hook) { blocking_hook_ = std::move(hook); }
  // A device runs only while it holds a run slot. While the device waits, another device may use the slot. The number
  // of run slots therefore limits the number of devices with intermediate values in memory.
  void AcquireRunSlot(int64_t device);
  void ReleaseRunSlot(int64_t device);

  // Computes the groups once per instruction. Two instructions share a rendezvous if they have the same kind of op (a
  // start counts as its synchronous op), the same channel and the same members.
  Result<const Groups*> GroupsOf(const Instruction& hlo);
  // Like GroupsOf, but each group has all partitions of one replica. Ignores the instruction's replica groups.
  Result<const Groups*> PartitionGroupsOf(const Instruction& hlo);
  // A send or recv without source-target pairs transfers from each device to itself.
  Result<const Routes*> RoutesOf(const Instruction& hlo);

  // Registers the arrival of the member with this rank and its contribution, without waiting. The n-th arrival of each
  // member belongs to the n-th operation at the rendezvous. The last member to arrive runs `combine`.
  Result<Handle> Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                        const Combine& combine);
  // Non-null if some members are in other processes. In that case, call the Arrive that takes an Exchange. The last
  // member to arrive in this process creates the Exchange with `exchange`, which must own its captures.
  const GroupLayout* LayoutOf(const Rendezvous& rendezvous) const;
  Handle Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                const MakeExchange& exchange);
  // Returns null unless the parts are small and each process has exactly one member. TryFastRendezvous succeeds only if
  // all members arrive at the same instruction with contributions of these types.
  std::unique_ptr<FastRendezvous> NewFastRendezvous(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank,
                                                    const std::vector<ArrayType>& contribution,
                                                    const std::vector<ArrayType>& parts);
  // Arrives and waits for about 100 µs. `parts`: the bytes to send, by process. Returns false if a member is late or
  // its instruction or types differ. The device must then arrive normally; no message is lost.
  bool TryFastRendezvous(FastRendezvous& fast, std::span<const std::string_view> parts);
  // The arriving member folds all contributions that are next in rank order, unless another member is already folding.
  Result<Handle> Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank, Arrays contribution,
                        const Accumulate& accumulate);
  // Deliver is called by the source of a transfer, Expect by the target.
  void Deliver(const Instruction& hlo, const Route& route, Arrays contribution);
  Handle Expect(const Instruction& hlo, const Route& route);

  // Waits for all members and returns this device's result. Fails if the run was stopped or is deadlocked. If `keep`,
  // the handle may be waited for again. Otherwise the result is moved out, so that the device may own its arrays.
  Result<Arrays> Wait(int64_t device, const Instruction& hlo, const ControlFlowState& control_flow_state,
                      const Handle& handle, bool keep = false);

  // Finish: the device has completed its program. Stop: stops all devices.
  void Finish(int64_t device, const ControlFlowState& control_flow_state);
  void Stop(Diag reason);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // The first reason passed to Stop.
  std::optional<Diag> reason() const;

  // Numbers of this process's devices that are running, and that are waiting for other devices.
  struct DeviceStateCounts {
    int64_t running = 0, waiting = 0;
  };
  DeviceStateCounts CountDeviceStates() const;
  // DescribeWaiting serializes the state of this process's devices for a deadlock report. AddWaiting adds the
  // serialized state of another process to this process's state.
  std::string DescribeWaiting() const;
  void AddWaiting(std::string_view description);
  // Stops the run with a deadlock report. Call this when all processes are deadlocked and their states have been added.
  void StopDeadlocked();

  // Adds to the device's traffic. Called on the device's own thread.
  void Count(int64_t device, Opcode opcode, const Traffic& more);
  // Traffic of each device by op, complete after the run. A start counts as its synchronous op.
  std::vector<std::map<Opcode, Traffic>> traffic() const;

 private:
  struct DeviceState;
  struct RendezvousKey;
  friend class DeadlockReport;
  friend class ProcessLink;

  static uint64_t HashOf(const RendezvousKey& key);
  Rendezvous* FindOrCreateRendezvous(const RendezvousKey& key);
  std::unique_ptr<Groups> MakeGroups(const Instruction& hlo, std::vector<DeviceGroup> all);
  // Joins the next operation and stores the contribution. Sets `complete` if all local members have arrived.
  std::shared_ptr<Operation> Contribute(const Instruction& hlo, Rendezvous& rendezvous, size_t rank,
                                        Arrays contribution, bool& complete);
  std::shared_ptr<Operation> JoinOperation(const Instruction& hlo, Rendezvous& rendezvous, size_t rank);
  Status CheckCompatible(const Operation& operation, size_t member) const;
  Status CompleteOperation(Operation& operation, const Combine& combine);
  Status FoldArrived(Operation& operation, const Accumulate& accumulate);
  void CompleteOperation(Operation& operation, std::vector<Arrays> results);
  void CompleteTransfer(Operation& operation, const Instruction& source, Arrays arrays);
  void Wake(Operation& operation);
  void PollForRunSlot(std::unique_lock<std::mutex>& lock, const DeviceState& state);
  void GrantRunSlot(DeviceState& state);
  void HandOverRunSlot(DeviceState& state);
  void StopLocked(Diag reason);
  void CheckForDeadlock();

  const DeviceGrid grid_;
  std::function<bool()> blocking_hook_;
  const Source* const source_;
  ProcessLink* const link_;  // null: all devices are in this process
  ThreadPool* const pool_;

  mutable std::mutex mutex_;  // guards the members below, up to rendezvous_
  std::atomic<bool> stopped_ = false;
  std::optional<Diag> reason_;
  std::vector<std::unique_ptr<DeviceState>> devices_;
  int64_t running_ = 0;  // devices of this process that do not wait for others; they may wait for a run slot
  std::vector<std::shared_ptr<Operation>> remote_operations_;  // of devices in other processes, for deadlock reports
  std::atomic<int64_t> free_run_slots_ = 0;
  bool has_poller_ = false;         // true while a waiting device polls for messages
  std::deque<DeviceState*> ready_;  // devices that wait for a run slot
  std::map<RendezvousKey, std::unique_ptr<Rendezvous>> rendezvous_;

  mutable std::shared_mutex groups_mutex_;
  std::unordered_map<const Instruction*, std::unique_ptr<Groups>> groups_;
  std::unordered_map<const Instruction*, std::unique_ptr<Routes>> routes_;
};

}  // namespace shoal::internal
