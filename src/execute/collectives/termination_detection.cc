// Detects the end of a run across processes. When all processes have reported that they are idle, and as many messages
// have been received as sent, the first process probes all others. If no report has changed, the run is over: either
// all devices have finished, or they are deadlocked.
#include <algorithm>
#include <chrono>

#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

using namespace std::chrono_literals;

// A process reports that it is idle after this time without progress.
constexpr auto kIdleTime = 5ms;

}  // namespace

void ProcessLink::SendControl(int to, int64_t kind, std::string_view bytes) {
  job_.Post(to, Writer().Int(run_).Int(kind).Take(), bytes);
}

void ProcessLink::BroadcastControl(int64_t kind, std::string_view bytes) {
  for (int to = 0; to < job_.size(); ++to)
    if (to != job_.rank()) SendControl(to, kind, bytes);
}

ProcessLink::IdleReport ProcessLink::OwnReport() {
  const CollectiveRuntime::DeviceStateCounts counts = runtime_->CountDeviceStates();
  const bool none_runs = is_stopped_ ? is_joined_ : counts.running == 0;
  return {none_runs && receiving_ == 0, is_stopped_ ? 0 : counts.waiting, sent_, received_};
}

// Called by the background thread. Reports again only if the state of this process has changed.
void ProcessLink::ReportIfIdle() {
  const IdleReport own = OwnReport();
  if (!own.is_idle || own == reported_ || end_) return;
  reported_ = own;
  if (job_.is_root()) return TakeIdleReport(0, own);
  SendControl(0, kIdle, Writer().Int(own.waiting).Int(own.sent).Int(own.received).Take());
}

void ProcessLink::TakeControl(int from, int64_t kind, Reader& reader) {
  if (kind == kIdle) {
    const int64_t waiting = reader.Int(), sent = reader.Int();
    TakeIdleReport(from, {true, waiting, sent, reader.Int()});
  } else if (kind == kProbe) {
    const IdleReport own = OwnReport();
    if (!own.is_idle) reported_.reset();
    Writer writer;
    writer.Int(reader.Int()).Int(own.is_idle ? 1 : 0).Int(own.waiting).Int(own.sent).Int(own.received);
    SendControl(from, kProbeReply, writer.Take());
  } else if (kind == kProbeReply) {
    if (reader.Int() != probe_number_) return;
    const bool is_idle = reader.Int() != 0;
    const int64_t waiting = reader.Int(), sent = reader.Int();
    TakeProbeReply(from, {is_idle, waiting, sent, reader.Int()});
  } else if (kind == kDescribe) {
    SendControl(from, kDescription, runtime_->DescribeWaiting());
  } else if (kind == kDescription) {
    TakeDescription(reader.rest());
  } else if (kind == kStop) {
    if (const Status reason = ReadStatus(reader); !reason.ok()) runtime_->Stop(reason.diag());
  } else if (kind == kEnd) {
    end_ = ReadStatus(reader);
  }
}

void ProcessLink::TakeIdleReport(int from, const IdleReport& report) {
  idle_reports_[static_cast<size_t>(from)] = report;
  int64_t in_flight = 0;
  for (const std::optional<IdleReport>& each : idle_reports_) {
    if (!each || !each->is_idle) return;
    in_flight += each->sent - each->received;
  }
  if (in_flight != 0) return;
  ++probe_number_;
  probe_replies_.assign(idle_reports_.size(), std::nullopt);
  BroadcastControl(kProbe, Writer().Int(probe_number_).Take());
  TakeProbeReply(0, OwnReport());
}

void ProcessLink::TakeProbeReply(int from, const IdleReport& reply) {
  probe_replies_[static_cast<size_t>(from)] = reply;
  if (std::any_of(probe_replies_.begin(), probe_replies_.end(), [](const auto& each) { return !each; })) return;
  const bool unchanged = probe_replies_ == idle_reports_;
  if (!unchanged && !probe_replies_[0]->is_idle) reported_.reset();
  if (unchanged) return OnQuiescent();
  idle_reports_ = probe_replies_;
}

void ProcessLink::OnQuiescent() {
  int64_t waiting = 0;
  for (const std::optional<IdleReport>& each : idle_reports_) waiting += each->waiting;
  if (waiting > 0 && !is_stopped_) {
    missing_descriptions_ = job_.size() - 1;
    if (missing_descriptions_ == 0) return runtime_->StopDeadlocked();
    return BroadcastControl(kDescribe, "");
  }
  const std::optional<Diag> reason = runtime_->reason();
  const Status status = reason ? Status(*reason) : Status();
  Writer writer;
  Write(writer, status);
  BroadcastControl(kEnd, writer.Take());
  end_ = status;
}

// Adds the device states of another process. The last description triggers the deadlock report.
void ProcessLink::TakeDescription(std::string_view bytes) {
  runtime_->AddWaiting(bytes);
  if (--missing_descriptions_ == 0) runtime_->StopDeadlocked();
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
    DiscardEarly();  // messages without a receiver
  }
  job_.PollUntil([&] { return !has_transfers(); });
  is_over_ = true;
  background_.join();
  job_.SetHandler({});  // later messages belong to the next run
  if (end_->ok()) return std::nullopt;
  return end_->diag();
}

// A yield on a busy machine costs milliseconds. Therefore this thread yields only if the process for which it waits may
// need this core, or after some time.
void ProcessLink::PollWhile(const std::function<bool()>& waits) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kIdlePollTime = 1500ns;  // a longer poll has moved bytes, even if no transfer has completed
  is_polled_ = true;
  ++polls_;
  auto now = Clock::now(), last = now;  // last: time of the last progress
  while (waits()) {
    const auto start = now;
    const bool any = job_.TryPoll();
    now = Clock::now();
    const bool moving = receiving_.load(std::memory_order_relaxed) > 0;
    if (any || (moving && now - start > kIdlePollTime)) {
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

// Polls while no device polls, and reports when this process is idle.
void ProcessLink::Background() {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();  // time of the last progress
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
      moving = has_transfers();
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
