// Lets a command run as one process of a job: mutes output, checks that the inputs agree and places the devices.
#pragma once

#include "cli/commands/engine_flags.h"
#include "cli/commands/run_input.h"
#include "execute/transport/job.h"
#include "execute/transport/message_buffer.h"
#include "execute/transport/placement.h"

namespace shoal::internal {

struct JobFlags {
  std::string transport = "auto", placement = "block", reduction = "ordered";
  bool gather = false;
};

// Without a job, this process runs all devices and no method communicates.
class JobContext {
 public:
  JobContext() = default;
  ~JobContext();
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;

  // Joins the job of the launcher, if there is one. Mutes the output of all but the first process.
  Status Join(const JobFlags& flags);
  // Fails unless all processes have the same inputs. `status`: the error of the input in this process.
  Status CheckInputsAgree(const Input& input, const Status& status);
  Status Place(int64_t devices);
  // Fails in all processes if `status` is an error in any of them.
  Status AgreeOnStatus(const Status& status) { return job_ == nullptr ? status : job_->AgreeOnStatus(status); }
  int AgreeOnExit(int status);
  // Prints an error and ends this process, and with it the job.
  [[noreturn]] void Abort(const std::string& sentence);

  Job* job() { return job_.get(); }
  const Placement* placement() const { return job_ == nullptr ? nullptr : &placement_; }
  // In a job, the default number of threads is the number of cores of this process.
  EngineFlags WithThreads(EngineFlags flags) const {
    if (flags.threads == 0 && job_ != nullptr) flags.threads = job_->cores();
    return flags;
  }
  bool is_root() const { return job_ == nullptr || job_->is_root(); }
  int64_t LocalDevices(int64_t all) const { return job_ == nullptr ? all : std::ssize(placement_.Local()); }
  // "4 processes on 2 machines, Open MPI v4.1.4"; empty without a job.
  std::string Describe() const;

 private:
  void OnProcessLost(int rank) const;

  const JobFlags* flags_ = nullptr;
  std::unique_ptr<Job> job_;
  Placement placement_;
};

}  // namespace shoal::internal
