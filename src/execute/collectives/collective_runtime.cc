#include "execute/collectives/collective_runtime.h"

#include <utility>

#include <algorithm>

#include "core/base/strings.h"
#include "core/base/thread_pool.h"
#include "core/base/threads.h"
#include "core/base/environment_error.h"
#include "core/ir/sizes.h"
#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"
#include "execute/collectives/deadlock.h"
#include "execute/collectives/unmetered.h"

namespace shoal::internal {
CollectiveRuntime::CollectiveRuntime(const DeviceGrid& grid, const Source* source, int64_t run_slots, ProcessLink* link,
                                     ThreadPool* pool)
    : grid_(grid), source_(source), link_(link), pool_(pool), running_(grid.count()), free_run_slots_(run_slots) {
  if (link != nullptr) running_ = std::ssize(link->placement().Local());
  for (int64_t i = 0; i < grid.count(); ++i) devices_.push_back(std::make_unique<DeviceState>());
}

CollectiveRuntime::~CollectiveRuntime() = default;

void CollectiveRuntime::AcquireRunSlot(int64_t device) {
  std::unique_lock lock(mutex_);
  DeviceState& state = *devices_[static_cast<size_t>(device)];
  GrantRunSlot(state);
  state.changed.wait(lock, [&] { return state.has_run_slot.load(); });
}

void CollectiveRuntime::ReleaseRunSlot(int64_t device) {
  std::lock_guard lock(mutex_);
  HandOverRunSlot(*devices_[static_cast<size_t>(device)]);
}

// Grants a free slot immediately, or else queues the device. The caller of this and of HandOverRunSlot holds the mutex.
void CollectiveRuntime::GrantRunSlot(DeviceState& state) {
  if (free_run_slots_ == 0) return ready_.push_back(&state);
  --free_run_slots_;
  if (pool_ != nullptr) pool_->AddActiveThread();
  state.has_run_slot = true;
  state.changed.notify_one();
}

void CollectiveRuntime::HandOverRunSlot(DeviceState& state) {
  if (!state.has_run_slot) return;
  state.has_run_slot = false;
  if (ready_.empty()) {
    ++free_run_slots_;
    if (pool_ != nullptr) pool_->RemoveActiveThread();
    return;
  }
  DeviceState& next = *ready_.front();
  ready_.pop_front();
  next.has_run_slot = true;
  next.changed.notify_one();
}

// Registers a member's arrival at its next operation. The caller holds the mutex.
std::shared_ptr<Operation> CollectiveRuntime::JoinOperation(const Instruction& hlo, Rendezvous& rendezvous,
                                                            size_t rank) {
  const int64_t number = rendezvous.arrivals[rank]++;
  while (number >= rendezvous.first_expected + std::ssize(rendezvous.expected)) {
    auto operation = std::make_shared<Operation>();
    operation->rendezvous = &rendezvous;
    operation->number = rendezvous.first_expected + std::ssize(rendezvous.expected);
    operation->missing = static_cast<int64_t>(rendezvous.local_count);
    operation->instructions.resize(rendezvous.members.size());
    operation->contributions.resize(rendezvous.members.size());
    rendezvous.expected.push_back(std::move(operation));
  }
  std::shared_ptr<Operation> operation = rendezvous.expected[static_cast<size_t>(number - rendezvous.first_expected)];
  operation->instructions[rank] = &hlo;
  if (--operation->missing == 0) {
    // Every member arrives at operations in order, so all members have also arrived at all earlier operations.
    SHOAL_CHECK(rendezvous.expected.front() == operation, "operations must complete in order");
    rendezvous.expected.pop_front();
    ++rendezvous.first_expected;
  }
  return operation;
}

std::shared_ptr<Operation> CollectiveRuntime::Contribute(const Instruction& hlo, Rendezvous& rendezvous, size_t rank,
                                                         Arrays contribution, bool& complete) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Operation> operation = JoinOperation(hlo, rendezvous, rank);
  operation->contributions[rank] = std::move(contribution);
  complete = operation->missing == 0;
  return operation;
}

Result<Handle> CollectiveRuntime::Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank,
                                         Arrays contribution, const Combine& combine) {
  const auto at = static_cast<size_t>(rank);
  bool complete = false;
  std::shared_ptr<Operation> operation = Contribute(hlo, rendezvous, at, std::move(contribution), complete);
  if (complete) SHOAL_TRY(CompleteOperation(*operation, combine));
  return Handle{std::move(operation), at};
}

Result<Handle> CollectiveRuntime::Arrive(const Instruction& hlo, Rendezvous& rendezvous, int64_t rank,
                                         Arrays contribution, const Accumulate& accumulate) {
  const auto at = static_cast<size_t>(rank);
  std::shared_ptr<Operation> operation;
  {
    std::lock_guard lock(mutex_);
    operation = JoinOperation(hlo, rendezvous, at);
    operation->contributions[at] = std::move(contribution);
    if (std::exchange(operation->is_folding, true)) return Handle{std::move(operation), at};
  }
  SHOAL_TRY(FoldArrived(*operation, accumulate));
  return Handle{std::move(operation), at};
}

// Folds contributions in rank order up to the first missing contribution. Completes the operation if none is missing.
Status CollectiveRuntime::FoldArrived(Operation& operation, const Accumulate& accumulate) {
  // The thread folds on behalf of all members, so its allocations are not charged to its device.
  const ScopedUnmeteredThread unmetered;
  while (operation.folded_count < operation.instructions.size()) {
    Arrays next;
    {
      std::lock_guard lock(mutex_);
      if (operation.instructions[operation.folded_count] == nullptr) {
        operation.is_folding = false;
        return {};
      }
      next = std::move(operation.contributions[operation.folded_count]);
    }
    SHOAL_TRY(CheckCompatible(operation, operation.folded_count));
    SHOAL_TRY(accumulate.add(operation.sum, std::move(next)));
    ++operation.folded_count;
  }
  SHOAL_ASSIGN(results, accumulate.finish(std::move(operation.sum)));
  CompleteOperation(operation, std::move(results));
  return {};
}

// Fails if a member's collective does not match that of the first member.
Status CollectiveRuntime::CheckCompatible(const Operation& operation, size_t member) const {
  const Instruction &first = *operation.instructions[0], &other = *operation.instructions[member];
  const std::string mismatch = CollectiveMismatch(first, other);
  if (mismatch.empty()) return {};
  return Fail(first.at, "",
              StrCat("mismatched collectives: device ", operation.rendezvous->members[0], " is at ", first.name,
                     LineOf(first, source_), ", device ", operation.rendezvous->members[member], " is at ", other.name,
                     LineOf(other, source_), ": ", mismatch));
}

// Runs without the mutex: all members have arrived, so only the last arriver accesses the operation.
Status CollectiveRuntime::CompleteOperation(Operation& operation, const Combine& combine) {
  for (size_t i = 1; i < operation.instructions.size(); ++i) SHOAL_TRY(CheckCompatible(operation, i));
  const ScopedUnmeteredThread unmetered;
  SHOAL_ASSIGN(results, combine(std::move(operation.contributions)));
  CompleteOperation(operation, std::move(results));
  return {};
}

void CollectiveRuntime::CompleteOperation(Operation& operation, std::vector<Arrays> results) {
  std::lock_guard lock(mutex_);
  operation.contributions.clear();
  operation.results = std::move(results);
  operation.is_complete = true;
  Wake(operation);
}

// Counts the waiting devices as running immediately, before their threads wake up. Otherwise a deadlock could be
// reported by mistake.
void CollectiveRuntime::Wake(Operation& operation) {
  for (int64_t member : operation.rendezvous->members) {
    DeviceState& state = *devices_[static_cast<size_t>(member)];
    if (state.waits_for != &operation) continue;
    state.waits_at = nullptr;
    state.waits_for = nullptr;
    ++running_;
    GrantRunSlot(state);
  }
}

// A waiting device's own thread polls for messages of other processes: this is faster than waking that thread later.
// Only one device polls at a time, and only while no other device needs the core.
void CollectiveRuntime::PollForRunSlot(std::unique_lock<std::mutex>& lock, const DeviceState& state) {
  if (std::exchange(has_poller_, true)) return;
  const ScopedUnmeteredThread unmetered;
  lock.unlock();
  link_->PollWhile([&] {
    return !state.has_run_slot.load(std::memory_order_acquire) && free_run_slots_.load(std::memory_order_relaxed) > 0;
  });
  lock.lock();
  has_poller_ = false;
}

Result<Arrays> CollectiveRuntime::Wait(int64_t device, const Instruction& hlo,
                                       const ControlFlowState& control_flow_state, const Handle& handle, bool keep) {
  Operation& operation = *handle.operation;
  std::unique_lock lock(mutex_);
  DeviceState& state = *devices_[static_cast<size_t>(device)];
  if (!operation.is_complete && !stopped()) {
    state.waits_at = &hlo;
    state.waits_for = &operation;
    state.control_flow_state = &control_flow_state;
    --running_;
    HandOverRunSlot(state);
    if (blocking_hook_ && !blocking_hook_()) StopLocked(ThreadCreationError());
    CheckForDeadlock();
    if (operation.rendezvous->layout != nullptr) PollForRunSlot(lock, state);
    state.changed.wait(lock, [&] { return state.has_run_slot.load(); });
    state.control_flow_state = nullptr;
  }
  if (!operation.is_complete) return *reason_;
  if (operation.rendezvous->transfer) {
    if (std::string mismatch = CollectiveMismatch(*operation.instructions[0], *operation.instructions[1]);
        !mismatch.empty())
      return Fail(hlo.at, "",
                  StrCat("mismatched transfer: ", hlo.name, " on device ", device, " receives from ",
                         operation.instructions[0]->name, LineOf(*operation.instructions[0], source_), " on device ",
                         operation.rendezvous->members[0], ": ", mismatch));
  }
  Arrays& result = operation.results[handle.rank];
  Arrays own = keep ? result : std::move(result);
  for (Array& array : own) array.ChargeTo(Buffer::MeterOfThisThread());
  return own;
}

void CollectiveRuntime::Finish(int64_t device, const ControlFlowState& control_flow_state) {
  std::lock_guard lock(mutex_);
  DeviceState& state = *devices_[static_cast<size_t>(device)];
  state.finished = true;
  state.final_state = control_flow_state;
  state.control_flow_state = &state.final_state;
  --running_;
  CheckForDeadlock();
}

void CollectiveRuntime::Stop(Diag reason) {
  {
    std::lock_guard lock(mutex_);
    if (stopped()) return;
    StopLocked(reason);
  }
  if (link_ != nullptr) link_->OnStopped(reason);
}

void CollectiveRuntime::StopLocked(Diag reason) {
  if (stopped()) return;
  reason_ = std::move(reason);
  stopped_.store(true, std::memory_order_relaxed);
  for (const std::unique_ptr<DeviceState>& state : devices_) {
    if (state->waits_for == nullptr) continue;
    state->waits_for = nullptr;
    GrantRunSlot(*state);
  }
}

void CollectiveRuntime::CheckForDeadlock() {
  if (running_ > 0 || stopped() || link_ != nullptr) return;  // a link detects deadlocks across processes
  if (std::optional<Diag> deadlock = DeadlockReport(*this).Explain()) StopLocked(std::move(*deadlock));
}

std::optional<Diag> CollectiveRuntime::reason() const {
  std::lock_guard lock(mutex_);
  return reason_;
}

void CollectiveRuntime::Count(int64_t device, Opcode opcode, const Traffic& more) {
  auto& all = devices_[static_cast<size_t>(device)]->traffic;
  const Opcode kind = KindOf(opcode);
  auto found = std::ranges::find(all, kind, &std::pair<Opcode, Traffic>::first);
  if (found == all.end()) found = all.insert(found, {kind, {}});
  Traffic& traffic = found->second;
  traffic.calls = SaturatingAdd(traffic.calls, more.calls);
  traffic.payload_bytes = SaturatingAdd(traffic.payload_bytes, more.payload_bytes);
  traffic.wire_bytes = SaturatingAdd(traffic.wire_bytes, more.wire_bytes);
}

std::vector<std::map<Opcode, Traffic>> CollectiveRuntime::traffic() const {
  std::vector<std::map<Opcode, Traffic>> all;
  for (const auto& state : devices_) all.emplace_back(state->traffic.begin(), state->traffic.end());
  return all;
}

}  // namespace shoal::internal
