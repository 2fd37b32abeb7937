// Collects the results of a simulation: the times of ops and collectives, and the events of the timeline.
#pragma once

#include <span>

#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// The rows of a device in the timeline.
enum Stream : uint32_t { kCompute, kNodeLinks, kNetwork, kCopies, kStreams };

TimeKind KindOfKernel(KernelKind family);

class Recorder {
 public:
  Recorder(const DevicePlanInput& input, const DevicePlan& plan, const std::string& device);

  // Records a kernel that starts at `start` and represents `weight` executions.
  void Kernel(const DevicePlanOp& op, const KernelDescriptor& kernel, const CacheTraffic& traffic, const KernelTime& timing,
              double start, double seconds, double weight);
  void Transfer(const DevicePlanOp& op, Stream stream, double start, double weight);
  // Records a transfer that another device starts.
  void Received(const PlannedAsync& async, double weight);
  // Records that kernels wait for `async`; null stands for all pending collectives and copies. `during` has the parts of
  // this time in which each transfer was running: the waiting time belongs to them.
  struct Part {
    const PlannedAsync* async = nullptr;
    double seconds = 0;
  };
  void Wait(const PlannedAsync* async, std::span<const Part> during, double start, double seconds, double weight);
  // Records the loop iterations that are not simulated one by one.
  void RemainingIterations(const Instruction& loop, double iterations, double start, double seconds);
  // Records that the host waits for a value from the device.
  void RoundTrip(double seconds, double weight) { round_trips_ += weight * seconds; }
  void Gap(double seconds, double weight) { gaps_ += weight * seconds; }

  SimulatedStep Finish(double result_bytes);

 private:
  using Details = std::vector<std::pair<std::string, std::string>>;
  size_t AddEvent(std::string name, Stream stream, double start, double seconds, std::string category, double times,
                  Details details, const Instruction* hlo);
  AsyncTime& AsyncOf(const PlannedAsync& async);

  const DevicePlanInput& input_;
  SimulatedStep result_;
  double gaps_ = 0, round_trips_ = 0;
  absl::flat_hash_map<const PlannedAsync*, size_t> started_, async_of_;
  absl::flat_hash_map<const Instruction*, size_t> op_of_;
};

}  // namespace shoal::internal
