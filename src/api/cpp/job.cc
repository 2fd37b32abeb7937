#include <set>

#include "api/cpp/job_state.h"
#include "api/cpp/module_state.h"
#include "core/base/environment_error.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "execute/collectives/deadlock.h"
#include "execute/transport/load.h"
#include "execute/transport/message_buffer.h"
#include "execute/transport/peers.h"
#include "execute/transport/process_agreement.h"
#include "kernels/arrays/block_cache.h"

namespace shoal::internal {
namespace {

using Transport = JobOptions::Transport;

// The launcher, if Join would join its job.
std::optional<LaunchInfo> LauncherToJoin(const JobOptions& options) {
  const std::optional<LaunchInfo> launched = LaunchedByMpi();
  if (options.transport == Transport::kThreads) return std::nullopt;
  if (options.transport == Transport::kAuto && launched && launched->size == 1) return std::nullopt;
  return launched;
}

// A status of the public API as an internal one. Other processes print its text.
Status InternalStatus(const shoal::Status& status) {
  if (status.ok()) return {};
  const Error& error = status.error();
  return Fail({}, error.kind() == ErrorKind::kModule ? error.diags().front().rule : kEnvironmentRule, error.message());
}

}  // namespace

Result<Placement> JobState::Place(int64_t devices) {
  SHOAL_ASSIGN(placement, ParsePlacement(spec, devices, job.size(), job.rank()));
  const std::lock_guard lock(mutex);
  latest = placement;
  return placement;
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::optional<int> Job::LaunchedRank(const JobOptions& options) {
  const auto launched = internal::LauncherToJoin(options);
  return launched ? std::optional(launched->rank) : std::nullopt;
}

Result<Job> Job::Join(const JobOptions& options) {
  return internal::Guarded([&]() -> Result<Job> {
    if (internal::Status known = internal::CheckPlacement(options.placement); !known.ok())
      return internal::MakeError(known.diag(), "");
    Job out;
    if (options.transport != JobOptions::Transport::kMpi && !internal::LauncherToJoin(options)) return out;
    auto communicator = internal::LoadMpi();
    if (!communicator.ok()) return internal::MakeError(communicator.diag(), "");
    out.state_ = std::make_shared<internal::JobState>(std::move(*communicator));
    out.state_->spec = options.placement;
    out.state_->job.fast_reduction = options.fast_reduction;
    internal::ArrayBlocks().CapAtPeakUse();
    return out;
  });
}

int Job::rank() const { return empty() ? 0 : state_->job.rank(); }
int Job::size() const { return empty() ? 1 : state_->job.size(); }
int Job::cores() const { return empty() ? 0 : state_->job.cores(); }
std::string Job::host(int rank) const { return empty() ? "" : state_->job.host(rank); }
std::string Job::DescribeRank(int rank) const { return empty() ? "" : state_->job.Describe(rank); }

std::string Job::Describe() const {
  if (empty()) return {};
  std::set<std::string> hosts;
  for (int rank = 0; rank < size(); ++rank) hosts.insert(host(rank));
  return internal::StrCat(size(), " processes on ",
                          hosts.size() == 1 ? "one machine" : internal::StrCat(hosts.size(), " machines"), ", ",
                          state_->job.library(),
                          state_->job.fast_reduction ? internal::StrCat(", reducing in its own order (", internal::Setting("fast_reduction"), ")")
                                                     : std::string());
}

std::string Job::DescribeDevices(int rank) const {
  if (empty()) return {};
  const std::lock_guard lock(state_->mutex);
  const std::vector<int64_t> devices = state_->latest.DevicesOf(rank);
  return devices.empty() ? "" : internal::DeviceList(devices);
}

Status Job::Agree(const Status& mine, const Module& module) const {
  if (empty()) return mine;
  return internal::Guarded([&]() -> Status {
    const internal::Status agreed = state_->job.AgreeOnStatus(internal::InternalStatus(mine));
    if (agreed.ok()) return Nothing();
    if (!mine.ok()) return mine;
    return module.empty() ? internal::MakeError(agreed.diag(), "") : module.state()->MakeError(agreed.diag());
  });
}

Status Job::AgreeOnInputs(const std::string& settings, const std::string& file, const Result<Module>& module) const {
  if (empty()) return Nothing();
  return internal::Guarded([&]() -> Status {
    internal::ProcessInputs inputs{internal::StrCat("shoal ", Version()), settings, file, 0, {}};
    inputs.status = internal::InternalStatus(module.ok() ? Status(Nothing()) : Status(module.error()));
    if (module.ok()) inputs.digest = internal::DigestOf(module->state()->module().source->text());
    const internal::Status agreed = internal::CheckProcessesAgree(state_->job, inputs);
    return agreed.ok() ? Status(Nothing()) : Status(internal::MakeError(agreed.diag(), file));
  });
}

int Job::Broadcast(int value) const {
  if (empty()) return value;
  const std::string message = state_->job.Broadcast(internal::Writer().Int(value).Take());
  return static_cast<int>(internal::Reader(message).Int());
}

std::string Job::GatherTexts(const std::map<int64_t, std::string>& by_device) const {
  std::map<int64_t, std::string> all = by_device;
  if (!empty()) {
    internal::Writer writer;
    for (const auto& [device, text] : by_device) writer.Int(device).String(text);
    for (const std::string& each : state_->job.Gather(writer.Take()))
      for (internal::Reader reader(each); !reader.rest().empty();) {
        const int64_t device = reader.Int();
        all[device] = reader.String();
      }
  }
  std::string texts;
  for (const auto& [device, text] : all) texts += text;
  return texts;
}

void Job::OnProcessLost(std::function<void(int rank)> lost) const {
  if (!empty()) state_->job.OnProcessLost(std::move(lost));
}
void Job::NotifyInterrupt() { internal::PeerMonitor::Interrupted(); }
bool Job::IsAnyProcessLost() { return internal::PeerMonitor::AnyPeerLost(); }

}  // namespace shoal::inline v0_1
