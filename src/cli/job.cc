#include "cli/job.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "base/files.h"
#include "base/strings.h"
#include "base/world.h"
#include "cli/interrupt.h"
#include "collectives/stall.h"
#include "transport/load.h"
#include "transport/pack.h"

namespace shoal {
namespace {

// What was said on the command line, without the program and the file, which may lie elsewhere on another machine.
std::string Arguments(const std::string& file) {
  std::string all;
  Result<std::unique_ptr<FileBytes>> line = FileBytes::Read("/proc/self/cmdline");
  if (!line.ok()) return all;
  bool is_program = true;
  for (std::string_view rest = (*line)->bytes(); !rest.empty();) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (!std::exchange(is_program, false) && word != file) StrAppend(&all, all.empty() ? "" : " ", word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

uint64_t DigestOf(std::string_view bytes) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (const char c : bytes) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    digest ^= digest >> 31;
  }
  return digest;
}

// What one process was given.
struct Given {
  std::string version, arguments, file;
  uint64_t digest = 0;
  Status fault;
};

Given ReadGiven(std::string_view bytes) {
  Reader reader(bytes);
  Given given;
  given.version = reader.String();
  given.arguments = reader.String();
  given.file = reader.String();
  given.digest = static_cast<uint64_t>(reader.Int());
  given.fault = ReadStatus(reader);
  return given;
}

// Why two processes cannot run together.
Status Differ(const Given& first, const Given& other, const std::string& who) {
  if (other.version != first.version)
    return WorldFailed(StrCat(who, " is ", other.version, ", rank 0 is ", first.version));
  if (!other.fault.ok() && first.fault.ok())
    return WorldFailed(StrCat(who, " cannot use ", other.file, ": ", other.fault.diag().message));
  if (other.digest != first.digest)
    return WorldFailed(StrCat(who, " has another module: its ", other.file, " is not what ", first.file,
                              " is for rank 0"));
  if (other.arguments != first.arguments)
    return WorldFailed(StrCat(who, " was called with other options: ", other.arguments, "; rank 0 with ",
                              first.arguments));
  return {};
}

}  // namespace

void JobFlags::AddTo(Options& verb) {
  verb.Value("--transport", transport, "mpi: devices are divided among the processes of an MPI job; threads: all here; "
             "auto: mpi where mpirun or srun started several")
      .OneOf({"auto", "mpi", "threads"});
  verb.Value("--placement", placement, "Which process runs which devices: block, cyclic, or a file with a line for each "
             "process, as 0-3,8");
  verb.Value("--reduction", reduction, "ordered: the bits of one process; fast: floats in whatever order MPI likes")
      .OneOf({"ordered", "fast"});
  verb.Flag("--gather", gather, "The first process collects all results, and alone writes --outputs");
}

Status JobOfVerb::Join(const JobFlags& flags) {
  flags_ = &flags;
  const std::optional<Launched> launched = LaunchedByMpi();
  if (flags.transport == "threads") return {};
  if (flags.transport == "auto" && (!launched || launched->size == 1)) return {};
  Result<std::unique_ptr<Communicator>> communicator = LoadMpi();
  if (!communicator.ok()) {
    if (launched && launched->rank != 0) Silence();  // the first says it
    return communicator.diag();
  }
  job_ = std::make_unique<Job>(std::move(*communicator));
  job_->fast_reduction = flags.reduction == "fast";
  if (!job_->leads()) Silence();
  TellPeersOfInterrupt(&Peers::Interrupted, job_->leads());
  job_->WhenLost([this](int rank) { Lost(rank); });
  return {};
}

// From the thread that watches: nobody else can be waited for.
void JobOfVerb::Lost(int rank) const {
  // The lowest rank that is left and knows.
  if (job_->rank() == (rank == 0 ? 1 : 0)) {
    const std::vector<int64_t> devices = placement_.DevicesOf(rank);
    Unsilence();
    SayError(StrCat("rank ", rank, " on ", job_->host(rank), devices.empty() ? "" : StrCat(", which ran ", DeviceList(devices), ","),
                    " is gone: it was killed, or its machine is down; the job cannot go on"));
  }
  RemoveUnfinishedFiles();
  _exit(kCallAtFault);
}

Status JobOfVerb::Compare(const Input& input, const Status& mine) {
  if (job_ == nullptr) return {};
  Writer writer;
  writer.String(kVersion).String(Arguments(input.path)).String(input.path);
  writer.Int(static_cast<int64_t>(input.text() == nullptr ? 0 : DigestOf(input.text()->text())));
  Write(writer, mine);
  const std::vector<std::string> all = job_->Gather(writer.Take());
  Status agreed;
  for (size_t rank = 1; rank < all.size() && agreed.ok(); ++rank)
    agreed = Differ(ReadGiven(all[0]), ReadGiven(all[rank]), job_->Describe(static_cast<int>(rank)));
  return job_->Agree(agreed);
}

Status JobOfVerb::Place(int64_t devices) {
  if (job_ == nullptr) return {};
  SHOAL_ASSIGN(placement, PlacementNamed(flags_->placement, devices, job_->size(), job_->rank()));
  placement_ = std::move(placement);
  return {};
}

int JobOfVerb::AgreeOnExit(int status) {
  if (job_ == nullptr) return status;
  const std::string told = job_->Broadcast(Writer().Int(status).Take());
  return static_cast<int>(Reader(told).Int());
}

void JobOfVerb::Leave(const std::string& sentence) {
  Unsilence();
  SayError(StrCat(job_->Describe(job_->rank()), ": ", sentence));
  RemoveUnfinishedFiles();
  _exit(kCallAtFault);
}

std::string JobOfVerb::Describe() const {
  if (job_ == nullptr) return {};
  std::set<std::string> hosts;
  for (int rank = 0; rank < job_->size(); ++rank) hosts.insert(job_->host(rank));
  return StrCat(job_->size(), " processes on ", hosts.size() == 1 ? "one machine" : StrCat(hosts.size(), " machines"),
                ", ", job_->library(),
                job_->fast_reduction ? ", which reduced in an order of its own (--reduction=fast)" : "");
}

}  // namespace shoal
