#include "cli/commands/job.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>

#include "cli/commands/interrupt.h"
#include "core/base/files.h"
#include "core/base/strings.h"
#include "execute/collectives/deadlock.h"
#include "execute/transport/load.h"
#include "execute/transport/process_agreement.h"
#include "kernels/arrays/block_cache.h"

namespace shoal::internal {
namespace {

// The command line without the program and the file, whose paths may differ between machines.
std::string CommandLineWithout(const std::string& file) {
  std::ifstream arguments("/proc/self/cmdline", std::ios::binary);
  const std::string line((std::istreambuf_iterator<char>(arguments)), {});
  std::string all;
  bool is_program = true;
  for (std::string_view rest = line; !rest.empty();) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (!std::exchange(is_program, false) && word != file) StrAppend(&all, all.empty() ? "" : " ", word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

constexpr PeerCallbacks kPeers{&PeerMonitor::Interrupted, &PeerMonitor::AnyPeerLost};

}  // namespace

// A launcher kills the other processes as soon as one fails. So each process waits here until all have arrived, and
// therefore have printed their messages.
JobContext::~JobContext() {
  if (job_ != nullptr) NotifyPeersOfInterrupt(kPeers, false);
}

Status JobContext::Join(const JobFlags& flags) {
  flags_ = &flags;
  SHOAL_TRY(CheckPlacement(flags.placement));
  const std::optional<LaunchInfo> launched = LaunchedByMpi();
  if (flags.transport == "threads") return {};
  if (flags.transport == "auto" && (!launched || launched->size == 1)) return {};
  if (launched) NotifyPeersOfInterrupt(kPeers, launched->rank == 0);
  Result<std::unique_ptr<Communicator>> communicator = LoadMpi();
  if (!communicator.ok()) {
    if (launched && launched->rank != 0) MuteOutput();  // the first process reports it
    return communicator.diag();
  }
  job_ = std::make_unique<Job>(std::move(*communicator));
  ArrayBlocks().CapAtPeakUse();
  job_->fast_reduction = flags.reduction == "fast";
  if (!job_->is_root()) MuteOutput();
  NotifyPeersOfInterrupt(kPeers, job_->is_root());
  job_->OnProcessLost([this](int rank) { OnProcessLost(rank); });
  return {};
}

// Called by the monitoring thread; the other threads may be blocked.
void JobContext::OnProcessLost(int rank) const {
  // Only the lowest surviving rank reports the loss.
  if (job_->rank() == (rank == 0 ? 1 : 0)) {
    const std::vector<int64_t> devices = placement_.DevicesOf(rank);
    UnmuteOutput();
    PrintError(StrCat("rank ", rank, " on ", job_->host(rank),
                      devices.empty() ? "" : StrCat(", which ran ", DeviceList(devices), ","),
                      " is gone: it was killed, or its machine is down; the job cannot continue"));
  }
  RemoveUnfinishedFiles();
  _exit(kUsageOrSystemError);
}

Status JobContext::CheckInputsAgree(const Input& input, const Status& status) {
  if (job_ == nullptr) return {};
  ProcessInputs inputs{kVersion, CommandLineWithout(input.path), input.path, 0, status};
  if (input.text() != nullptr) inputs.digest = DigestOf(input.text()->text());
  return CheckProcessesAgree(*job_, inputs);
}

Status JobContext::Place(int64_t devices) {
  if (job_ == nullptr) return {};
  SHOAL_ASSIGN(placement, ParsePlacement(flags_->placement, devices, job_->size(), job_->rank()));
  placement_ = std::move(placement);
  return {};
}

int JobContext::AgreeOnExit(int status) {
  if (job_ == nullptr) return status;
  const std::string message = job_->Broadcast(Writer().Int(status).Take());
  return static_cast<int>(Reader(message).Int());
}

void JobContext::Abort(const std::string& sentence) {
  UnmuteOutput();
  PrintError(StrCat(job_->Describe(job_->rank()), ": ", sentence));
  RemoveUnfinishedFiles();
  _exit(kUsageOrSystemError);
}

std::string JobContext::Describe() const {
  if (job_ == nullptr) return {};
  std::set<std::string> hosts;
  for (int rank = 0; rank < job_->size(); ++rank) hosts.insert(job_->host(rank));
  return StrCat(job_->size(), " processes on ", hosts.size() == 1 ? "one machine" : StrCat(hosts.size(), " machines"),
                ", ", job_->library(),
                job_->fast_reduction ? ", reducing in its own order (--reduction=fast)" : "");
}

}  // namespace shoal::internal
