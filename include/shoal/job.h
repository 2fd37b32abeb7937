// Jobs: several processes that run one module together, each on some of its devices.
#pragma once

#include <functional>
#include <map>

#include "shoal/module.h"

namespace shoal::internal {
struct JobState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

struct JobOptions {
  enum class Transport : uint8_t {
    kAuto,     // MPI if mpirun or srun started several processes
    kMpi,
    kThreads,  // no job: this process runs all devices
  };
  Transport transport = Transport::kAuto;
  // Devices of each process: block, cyclic, or a file with a line per process, such as 0-3,8.
  std::string placement = "block";
  bool fast_reduction = false;  // sum floats in the order of MPI; else results are those of one process
};

// The job of this process. Functions marked as collective wait for all processes, which must call them in the same order.
// Compile takes the job of an executable; its executions are collective.
class SHOAL_API Job {
 public:
  Job() = default;  // no job
  // Collective. The result is empty if there is no job to join.
  static Result<Job> Join(const JobOptions& options = {});
  // The rank with which Join would join the job of a launcher.
  static std::optional<int> LaunchedRank(const JobOptions& options = {});

  bool empty() const { return state_ == nullptr; }
  int rank() const;
  int size() const;
  bool is_root() const { return rank() == 0; }
  int cores() const;  // for each process
  std::string host(int rank) const;
  std::string Describe() const;  // "4 processes on 2 machines, Open MPI v4.1.4"; empty without a job
  // "rank 2 on node7"
  std::string DescribeRank(int rank) const;
  // The devices that the last compiled executable has on the process: "devices 0-3"; may be empty.
  std::string DescribeDevices(int rank) const;

  // Collective: fails in all processes if `mine` is an error in any of them.
  // An error of another process refers to `module`, if it has a location.
  Status Agree(const Status& mine, const Module& module = {}) const;
  // Collective: fails unless all processes have the same settings and the same module, or the same error.
  Status AgreeOnInputs(const std::string& settings, const std::string& file, const Result<Module>& module) const;
  // Collective: the value of the first process.
  int Broadcast(int value) const;
  // Collective: at the first process, the texts of the devices of all processes, in the order of the devices.
  std::string GatherTexts(const std::map<int64_t, std::string>& by_device) const;

  // Calls `lost` from another thread when a process is gone; the lowest surviving rank first.
  void OnProcessLost(std::function<void(int rank)> lost) const;
  // For signal handlers: tells the other processes that this one was interrupted; whether another process is gone.
  static void NotifyInterrupt();
  static bool IsAnyProcessLost();

  const std::shared_ptr<internal::JobState>& state() const { return state_; }

 private:
  std::shared_ptr<internal::JobState> state_;
};

}  // namespace shoal::inline v0_1
