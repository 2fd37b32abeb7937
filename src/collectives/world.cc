#include "collectives/world.h"

#include <utility>

#include "base/strings.h"
#include "collectives/meeting.h"
#include "collectives/stall.h"

namespace shoal {
namespace {

// While it is there, what the thread makes counts for no device.
class UnmeteredThread {
 public:
  UnmeteredThread() : meter_(Buffer::MeterThisThread(nullptr)) {}
  ~UnmeteredThread() { Buffer::MeterThisThread(meter_); }
  UnmeteredThread(const UnmeteredThread&) = delete;
  UnmeteredThread& operator=(const UnmeteredThread&) = delete;

 private:
  MemoryMeter* meter_;
};

}  // namespace

World::World(const DeviceGrid& grid, const Source* source, int64_t turns)
    : grid_(grid), source_(source), running_(grid.count()), free_turns_(turns) {
  for (int64_t i = 0; i < grid.count(); ++i) devices_.push_back(std::make_unique<DeviceState>());
}

World::~World() = default;

void World::TakeTurn(int64_t device) {
  std::unique_lock lock(mutex_);
  DeviceState& state = *devices_[static_cast<size_t>(device)];
  GiveTurn(state);
  state.changed.wait(lock, [&] { return state.has_turn; });
}

void World::ReturnTurn(int64_t device) {
  std::lock_guard lock(mutex_);
  PassTurnOn(*devices_[static_cast<size_t>(device)]);
}

// At once if one is free, else when the device's time comes. The mutex is held, here and in what follows.
void World::GiveTurn(DeviceState& state) {
  if (free_turns_ == 0) return ready_.push_back(&state);
  --free_turns_;
  state.has_turn = true;
  state.changed.notify_one();
}

void World::PassTurnOn(DeviceState& state) {
  if (!state.has_turn) return;
  state.has_turn = false;
  ++free_turns_;
  if (ready_.empty()) return;
  DeviceState& next = *ready_.front();
  ready_.pop_front();
  GiveTurn(next);
}

// Notes that a member has come; the mutex is held.
std::shared_ptr<Meeting> World::Enter(const Instruction& hlo, Room& room, size_t position) {
  const int64_t number = room.arrivals[position]++;
  while (number >= room.first_expected + std::ssize(room.expected)) {
    auto meeting = std::make_shared<Meeting>();
    meeting->room = &room;
    meeting->number = room.first_expected + std::ssize(room.expected);
    meeting->missing = std::ssize(room.members);
    meeting->came.resize(room.members.size());
    meeting->contributions.resize(room.members.size());
    room.expected.push_back(std::move(meeting));
  }
  std::shared_ptr<Meeting> meeting = room.expected[static_cast<size_t>(number - room.first_expected)];
  meeting->came[position] = &hlo;
  if (--meeting->missing == 0) {
    // Members come to meetings one after the other, so all have been to the ones before.
    SHOAL_CHECK(room.expected.front() == meeting, "a later meeting was complete first");
    room.expected.pop_front();
    ++room.first_expected;
  }
  return meeting;
}

Result<Ticket> World::Arrive(const Instruction& hlo, Room& room, int64_t position, Arrays contribution,
                             const Combine& combine) {
  const auto at = static_cast<size_t>(position);
  std::shared_ptr<Meeting> meeting;
  bool complete = false;
  {
    std::lock_guard lock(mutex_);
    meeting = Enter(hlo, room, at);
    meeting->contributions[at] = std::move(contribution);
    complete = meeting->missing == 0;
  }
  if (complete) SHOAL_TRY(Conclude(*meeting, combine));
  return Ticket{std::move(meeting), at};
}

Result<Ticket> World::Arrive(const Instruction& hlo, Room& room, int64_t position, Arrays contribution,
                             const Accumulate& accumulate) {
  const auto at = static_cast<size_t>(position);
  std::shared_ptr<Meeting> meeting;
  {
    std::lock_guard lock(mutex_);
    meeting = Enter(hlo, room, at);
    meeting->contributions[at] = std::move(contribution);
    if (std::exchange(meeting->is_folding, true)) return Ticket{std::move(meeting), at};
  }
  SHOAL_TRY(FoldIn(*meeting, accumulate));
  return Ticket{std::move(meeting), at};
}

// As far as members have come one after the other; then the result, if that was all of them.
Status World::FoldIn(Meeting& meeting, const Accumulate& accumulate) {
  // Whoever comes works for all: what it makes does not count for it.
  const UnmeteredThread unmetered;
  while (meeting.folded < meeting.came.size()) {
    Arrays next;
    {
      std::lock_guard lock(mutex_);
      if (meeting.came[meeting.folded] == nullptr) {
        meeting.is_folding = false;
        return {};
      }
      next = std::move(meeting.contributions[meeting.folded]);
    }
    SHOAL_TRY(CheckFit(meeting, meeting.folded));
    SHOAL_TRY(accumulate.add(meeting.sum, std::move(next)));
    ++meeting.folded;
  }
  SHOAL_ASSIGN(results, accumulate.finish(std::move(meeting.sum)));
  Conclude(meeting, std::move(results));
  return {};
}

// Whether a member came with the same collective as the first.
Status World::CheckFit(const Meeting& meeting, size_t member) const {
  const Instruction &first = *meeting.came[0], &other = *meeting.came[member];
  const std::string misfit = Misfit(first, other);
  if (misfit.empty()) return {};
  return Fail(first.at, "",
              StrCat("device ", meeting.room->members[0], " is at ", first.name, LineOf(first, source_),
                     " when device ", meeting.room->members[member], " is at ", other.name, LineOf(other, source_),
                     ", which does not fit: ", misfit));
}

// All have come, and nobody but the last of them touches the meeting: the work is done without the mutex.
Status World::Conclude(Meeting& meeting, const Combine& combine) {
  for (size_t i = 1; i < meeting.came.size(); ++i) SHOAL_TRY(CheckFit(meeting, i));
  const UnmeteredThread unmetered;
  SHOAL_ASSIGN(results, combine(std::move(meeting.contributions)));
  Conclude(meeting, std::move(results));
  return {};
}

void World::Conclude(Meeting& meeting, std::vector<Arrays> results) {
  std::lock_guard lock(mutex_);
  meeting.contributions.clear();
  meeting.results = std::move(results);
  meeting.over = true;
  Wake(meeting);
}

// Whoever waits runs again from this moment, and not only when its thread gets to it: so no stall is seen where there
// is none.
void World::Wake(Meeting& meeting) {
  for (int64_t member : meeting.room->members) {
    DeviceState& state = *devices_[static_cast<size_t>(member)];
    if (state.waits_for != &meeting) continue;
    state.waits_at = nullptr;
    state.waits_for = nullptr;
    ++running_;
    GiveTurn(state);
  }
}

void World::Deliver(const Instruction& hlo, const Route& route, Arrays contribution) {
  std::lock_guard lock(mutex_);
  const std::shared_ptr<Meeting> meeting = Enter(hlo, *route.room, 0);
  meeting->results.resize(2);
  meeting->results[1] = std::move(contribution);
  meeting->over = true;
  Wake(*meeting);
}

Ticket World::Expect(const Instruction& hlo, const Route& route) {
  std::lock_guard lock(mutex_);
  return {Enter(hlo, *route.room, 1), 1};
}

Result<Arrays> World::Wait(int64_t device, const Instruction& hlo, const Whereabouts& whereabouts, const Ticket& ticket,
                           bool keep) {
  Meeting& meeting = *ticket.meeting;
  std::unique_lock lock(mutex_);
  DeviceState& state = *devices_[static_cast<size_t>(device)];
  if (!meeting.over && !stopped()) {
    state.waits_at = &hlo;
    state.waits_for = &meeting;
    state.whereabouts = &whereabouts;
    --running_;
    PassTurnOn(state);
    CheckForStall();
    state.changed.wait(lock, [&] { return state.has_turn; });
    state.whereabouts = nullptr;
  }
  if (!meeting.over) return *reason_;
  if (meeting.room->transfer) {
    if (std::string misfit = Misfit(*meeting.came[0], *meeting.came[1]); !misfit.empty())
      return Fail(hlo.at, "",
                  StrCat(hlo.name, " of device ", device, " gets what ", meeting.came[0]->name,
                         LineOf(*meeting.came[0], source_), " of device ", meeting.room->members[0],
                         " sends, which does not fit: ", misfit));
  }
  Arrays& result = meeting.results[ticket.position];
  Arrays own = keep ? result : std::move(result);
  for (Array& array : own) array.CountFor(Buffer::MeterOfThisThread());
  return own;
}

void World::Finish(int64_t device, const Whereabouts& whereabouts) {
  std::lock_guard lock(mutex_);
  DeviceState& state = *devices_[static_cast<size_t>(device)];
  state.finished = true;
  state.last = whereabouts;
  state.whereabouts = &state.last;
  --running_;
  CheckForStall();
}

void World::Stop(Diag reason) {
  std::lock_guard lock(mutex_);
  StopLocked(std::move(reason));
}

void World::StopLocked(Diag reason) {
  if (stopped()) return;
  reason_ = std::move(reason);
  stopped_.store(true, std::memory_order_relaxed);
  for (const std::unique_ptr<DeviceState>& state : devices_) {
    if (state->waits_for == nullptr) continue;
    state->waits_for = nullptr;
    GiveTurn(*state);
  }
}

void World::CheckForStall() {
  if (running_ > 0 || stopped()) return;
  if (std::optional<Diag> stall = StallReport(*this).Explain()) StopLocked(std::move(*stall));
}

std::optional<Diag> World::reason() const {
  std::lock_guard lock(mutex_);
  return reason_;
}

void World::Count(int64_t device, Opcode opcode, const Traffic& more) {
  Traffic& traffic = devices_[static_cast<size_t>(device)]->traffic[KindOf(opcode)];
  traffic.calls += more.calls;
  traffic.payload_bytes += more.payload_bytes;
  traffic.wire_bytes += more.wire_bytes;
}

std::vector<std::map<Opcode, Traffic>> World::traffic() const {
  std::vector<std::map<Opcode, Traffic>> all;
  for (const std::unique_ptr<DeviceState>& state : devices_) all.push_back(state->traffic);
  return all;
}

}  // namespace shoal
