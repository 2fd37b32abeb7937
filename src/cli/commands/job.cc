#include "cli/commands/job.h"

#include <unistd.h>

#include <fstream>
#include <iterator>

#include "cli/commands/base.h"
#include "cli/commands/interrupt.h"
#include "core/base/files.h"

namespace shoal::cli {
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

constexpr PeerCallbacks kPeers{&Job::NotifyInterrupt, &Job::IsAnyProcessLost};

JobOptions OptionsOf(const JobFlags& flags) {
  using Transport = JobOptions::Transport;
  const Transport transport = flags.transport == "threads" ? Transport::kThreads
                              : flags.transport == "mpi"   ? Transport::kMpi
                                                           : Transport::kAuto;
  return {transport, flags.placement, flags.reduction == "fast"};
}

}  // namespace

// A launcher kills the other processes as soon as one fails. So each process waits here until all have arrived, and
// therefore have printed their messages.
JobContext::~JobContext() {
  if (!job_.empty()) NotifyPeersOfInterrupt(kPeers, false);
}

Status JobContext::Join(const JobFlags& flags) {
  const JobOptions options = OptionsOf(flags);
  const std::optional<int> rank = Job::LaunchedRank(options);
  if (rank) NotifyPeersOfInterrupt(kPeers, *rank == 0);
  Result<Job> job = Job::Join(options);
  if (!job.ok()) {
    if (rank && *rank != 0) MuteOutput();  // the first process reports it
    return job.error();
  }
  job_ = std::move(*job);
  if (job_.empty()) return Nothing();
  if (!job_.is_root()) MuteOutput();
  NotifyPeersOfInterrupt(kPeers, job_.is_root());
  job_.OnProcessLost([this](int lost) { OnProcessLost(lost); });
  return Nothing();
}

// Called by the monitoring thread; the other threads may be blocked.
void JobContext::OnProcessLost(int rank) const {
  // Only the lowest surviving rank reports the loss.
  if (job_.rank() == (rank == 0 ? 1 : 0)) {
    UnmuteOutput();
    const std::string devices = job_.DescribeDevices(rank);
    PrintError(StrCat("rank ", rank, " on ", job_.host(rank), devices.empty() ? "" : StrCat(", which ran ", devices, ","),
                      " is gone: it was killed, or its machine is down; the job cannot continue"));
  }
  internal::RemoveUnfinishedFiles();
  _exit(kUsageOrSystemError);
}

Status JobContext::CheckInputsAgree(const std::string& file, const Result<Module>& module) const {
  return job_.empty() ? Status(Nothing()) : job_.AgreeOnInputs(CommandLineWithout(file), file, module);
}

void JobContext::AbortIfOutOfMemory(const Error& error) const {
  // An error with a rule is that of an instruction, which all processes report together.
  if (job_.empty() || error.kind() != ErrorKind::kMemory || !error.diags().front().rule.empty()) return;
  UnmuteOutput();
  PrintError(StrCat(job_.DescribeRank(job_.rank()), ": ", error.message()));
  internal::RemoveUnfinishedFiles();
  _exit(kUsageOrSystemError);
}

}  // namespace shoal::cli
