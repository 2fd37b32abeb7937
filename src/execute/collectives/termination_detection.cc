// How a run across processes ends. The first process asks all others, when each has said that none of its devices runs
// and as many messages were received as sent, whether that is still so: then nothing can happen any more. Either all
// have finished, or it is a stall.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

using namespace std::chrono_literals;

// A process that has nothing to do for so long says so.
constexpr auto kIdleTime = 5ms;

}  // namespace

void ProcessLink::SendControl(int to, int64_t kind, std::string_view bytes) {
  job_.Post(to, Writer().Int(run_).Int(kind).Take(), bytes);
}

void ProcessLink::BroadcastControl(int64_t kind, std::string_view bytes) {
  for (int to = 0; to < job_.size(); ++to)
    if (to != job_.rank()) SendControl(to, kind, bytes);
}

ProcessLink::IdleReport ProcessLink::Own() {
  const CollectiveRuntime::DeviceStateCounts census = world_->CountDeviceStates();
  const bool is_quiet = is_stopped_ ? is_joined_ : census.running == 0;
  return {is_quiet && receiving_ == 0, is_stopped_ ? 0 : census.waiting, sent_, received_};
}

// By the thread in the background; what changed since is said again.
void ProcessLink::ReportIfIdle() {
  const IdleReport own = Own();
  if (!own.is_idle || own == reported_ || end_) return;
  reported_ = own;
  if (job_.is_root()) return TakeStanding(0, own);
  SendControl(0, kStanding, Writer().Int(own.waiting).Int(own.sent).Int(own.received).Take());
}

void ProcessLink::TakeControl(int from, int64_t kind, Reader& reader) {
  if (kind == kStanding) {
    const int64_t waiting = reader.Int(), sent = reader.Int();
    TakeStanding(from, {true, waiting, sent, reader.Int()});
  } else if (kind == kProbe) {
    const IdleReport own = Own();
    if (!own.is_idle) reported_.reset();
    SendControl(from, kProbeReply,
         Writer().Int(reader.Int()).Int(own.is_idle ? 1 : 0).Int(own.waiting).Int(own.sent).Int(own.received).Take());
  } else if (kind == kProbeReply) {
    if (reader.Int() != asked_) return;
    const bool is_idle = reader.Int() != 0;
    const int64_t waiting = reader.Int(), sent = reader.Int();
    TakeAnswer(from, {is_idle, waiting, sent, reader.Int()});
  } else if (kind == kDescribe) {
    SendControl(from, kDeadlock, world_->DescribeWaiting());
  } else if (kind == kDeadlock) {
    TakeStall(reader.rest());
  } else if (kind == kStop) {
    if (const Status reason = ReadStatus(reader); !reason.ok()) world_->Stop(reason.diag());
  } else if (kind == kEnd) {
    end_ = ReadStatus(reader);
  }
}

void ProcessLink::TakeStanding(int from, const IdleReport& standing) {
  standings_[static_cast<size_t>(from)] = standing;
  int64_t on_their_way = 0;
  for (const std::optional<IdleReport>& each : standings_) {
    if (!each || !each->is_idle) return;
    on_their_way += each->sent - each->received;
  }
  if (on_their_way != 0) return;
  ++asked_;
  answers_.assign(standings_.size(), std::nullopt);
  BroadcastControl(kProbe, Writer().Int(asked_).Take());
  TakeAnswer(0, Own());
}

void ProcessLink::TakeAnswer(int from, const IdleReport& answer) {
  answers_[static_cast<size_t>(from)] = answer;
  if (std::any_of(answers_.begin(), answers_.end(), [](const auto& each) { return !each; })) return;
  const bool unchanged = answers_ == standings_;
  if (!unchanged && !answers_[0]->is_idle) reported_.reset();
  if (unchanged) return OnQuiescent();
  standings_ = answers_;
}

// Nothing happens any more, anywhere.
void ProcessLink::OnQuiescent() {
  int64_t waiting = 0;
  for (const std::optional<IdleReport>& each : standings_) waiting += each->waiting;
  if (waiting > 0 && !is_stopped_) {
    stalls_expected_ = job_.size() - 1;
    if (stalls_expected_ == 0) return world_->StopDeadlocked();
    return BroadcastControl(kDescribe, "");
  }
  const std::optional<Diag> reason = world_->reason();
  const Status status = reason ? Status(*reason) : Status();
  Writer writer;
  Write(writer, status);
  BroadcastControl(kEnd, writer.Take());
  end_ = status;
}

// What another process knows of its devices; the last one completes the picture.
void ProcessLink::TakeStall(std::string_view bytes) {
  world_->AddWaiting(bytes);
  if (--stalls_expected_ == 0) world_->StopDeadlocked();
}

std::optional<Diag> ProcessLink::Join() {
  {
    std::lock_guard lock(job_.mutex());
    is_joined_ = true;
    ReportIfIdle();
  }
  job_.PollUntil([&] { return end_.has_value(); });
  {
    std::lock_guard lock(job_.mutex());
    DiscardEarly();  // what was sent to nobody
  }
  job_.PollUntil([&] { return !is_moving(); });
  is_over_ = true;
  background_.join();
  job_.SetHandler({});  // what comes now is for the next run
  if (end_->ok()) return std::nullopt;
  return end_->diag();
}

// A yield on a busy machine costs milliseconds; so one is made only where the process that is waited for may want this
// core, or after a while.
void ProcessLink::PollWhile(const std::function<bool()>& waits) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kNothing = 1500ns;  // a poll that takes longer has moved bytes, though nothing is complete yet
  is_polled_ = true;
  ++polls_;
  auto now = Clock::now(), last = now;  // that something happened
  while (waits()) {
    const auto begun = now;
    const bool any = job_.TryPoll();
    now = Clock::now();
    const bool moving = receiving_.load(std::memory_order_relaxed) > 0;
    if (any || (moving && now - begun > kNothing)) {
      last = now;
      continue;
    }
    if (now - last > (moving ? 1000ms : 10ms)) break;
    if (!is_crowded_ && now - last < (moving ? 100ms : 2ms)) continue;
    std::this_thread::yield();
    now = Clock::now();
  }
  is_polled_ = false;
}

// Polls while no device does, and says when there is nothing to do.
void ProcessLink::Background() {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();  // that something happened
  int64_t polls = 0;
  while (!is_over_) {
    const int64_t before = std::exchange(polls, polls_.load());
    if (is_polled_ || before != polls) {
      last = Clock::now();
      std::this_thread::sleep_for(1ms);
      continue;
    }
    bool any = false, moving = false;
    {
      std::lock_guard lock(job_.mutex());
      any = job_.Poll();
      moving = is_moving();
      if (any) last = Clock::now();
      if (Clock::now() - last > kIdleTime || is_joined_) ReportIfIdle();
    }
    if (any) continue;
    if (moving && Clock::now() - last < 5ms)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(moving ? 50us : 200us);
  }
}

}  // namespace shoal::internal
