// Lets a command run as one process of a job: mutes output and handles lost processes.
#pragma once

#include "cli/commands/output.h"
#include "shoal/job.h"

namespace shoal::cli {

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
  // Fails unless all processes have the same module and options.
  Status CheckInputsAgree(const std::string& file, const Result<Module>& module) const;
  // Fails in all processes if `result` is an error in any of them.
  template <class T>
  Result<T> Agree(Result<T> result, const Module& module) const {
    const Status agreed = job_.Agree(result.ok() ? Status(Nothing()) : Status(result.error()), module);
    if (!agreed.ok()) return agreed.error();
    return result;
  }
  int AgreeOnExit(int status) const { return job_.Broadcast(status); }
  // If only this process lacks memory: prints that and ends this process, and with it the job, because others wait for it.
  void AbortIfOutOfMemory(const Error& error) const;

  const Job& job() const { return job_; }
  bool is_root() const { return job_.is_root(); }

 private:
  void OnProcessLost(int rank) const;

  Job job_;
};

}  // namespace shoal::cli
