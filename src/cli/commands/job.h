// A verb that runs devices, as one of the processes of a job: who speaks, whether all run the same, and who runs what.
#pragma once

#include "cli/commands/engine_flags.h"
#include "cli/commands/input.h"
#include "execute/transport/job.h"
#include "execute/transport/message_buffer.h"
#include "execute/transport/placement.h"

namespace shoal::internal {

struct JobFlags {
  std::string transport = "auto", placement = "block", reduction = "ordered";
  bool gather = false;
};

// With no job, one process has all devices and every step is its own.
class JobContext {
 public:
  JobContext() = default;
  ~JobContext();
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;

  // Joins the job that a launcher started, if there is one. All but the first process fall silent.
  Status Join(const JobFlags& flags);
  // The processes compare what they were given. `mine`: what is wrong with it here.
  Status Compare(const Input& input, const Status& mine);
  Status Place(int64_t devices);
  // The failure of any process is everybody's.
  Status AgreeOnStatus(const Status& mine) { return job_ == nullptr ? mine : job_->AgreeOnStatus(mine); }
  int AgreeOnExit(int status);
  // There is no way to go on together.
  [[noreturn]] void Leave(const std::string& sentence);

  Job* job() { return job_.get(); }
  const Placement* placement() const { return job_ == nullptr ? nullptr : &placement_; }
  // Of the engine: those that were asked for, or one for each core that this process has.
  EngineFlags WithThreads(EngineFlags flags) const {
    if (flags.threads == 0 && job_ != nullptr) flags.threads = job_->cores();
    return flags;
  }
  bool is_root() const { return job_ == nullptr || job_->is_root(); }
  int64_t LocalDevices(int64_t all) const { return job_ == nullptr ? all : std::ssize(placement_.Local()); }
  // "4 processes on 2 hosts, Open MPI v4.1.4"; nothing without a job.
  std::string Describe() const;

 private:
  void Lost(int rank) const;

  const JobFlags* flags_ = nullptr;
  std::unique_ptr<Job> job_;
  Placement placement_;
};

}  // namespace shoal::internal
