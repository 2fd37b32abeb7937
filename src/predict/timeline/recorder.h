// What a simulation found, gathered: ops, collectives, kinds of time, the events of the timeline.
#pragma once

#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// Rows of the timeline of a device.
enum Stream : uint32_t { kCompute, kNodeLinks, kNetwork, kCopies, kStreams };

TimeKind KindOfKernel(KernelKind family);

class Recorder {
 public:
  Recorder(const DevicePlanInput& input, const DevicePlan& plan, const std::string& device);

  // A kernel that begins at `start`, for `weight` rounds like this one.
  void Kernel(const DevicePlanOp& step, const KernelDescriptor& kernel, const CacheTraffic& traffic, const KernelTime& timing,
              double start, double seconds, double weight);
  void Transfer(const DevicePlanOp& step, Stream stream, double start, double weight);
  // Kernels wait for `async`, or for all that goes on if it is null.
  void Wait(const PlannedAsync* async, double start, double seconds, double weight);
  // Rounds of a loop that are not shown one by one.
  void Rounds(const Instruction& loop, double rounds, double start, double seconds);
  // The host reads a number from the device before it goes on.
  void RoundTrip(double seconds, double weight) { trips_ += weight * seconds; }
  void Gap(double seconds, double weight) { gaps_ += weight * seconds; }

  SimulatedStep Finish(double result_bytes);

 private:
  using Details = std::vector<std::pair<std::string, std::string>>;
  size_t AddEvent(std::string name, Stream stream, double start, double seconds, std::string category, double times,
                  Details details, const Instruction* hlo);
  AsyncTime& AsyncOf(const PlannedAsync& async);

  const DevicePlanInput& input_;
  SimulatedStep result_;
  double gaps_ = 0, trips_ = 0;
  absl::flat_hash_map<const PlannedAsync*, size_t> started_, async_of_;
  absl::flat_hash_map<const Instruction*, size_t> op_of_;
};

}  // namespace shoal::internal
