// The timeline of a module on a machine: a device of each class that stands for the others, its kernels one after the
// other, collectives and copies beside them.
#pragma once

#include <array>
#include <memory>

#include "analyze/cost/kernel_time.h"
#include "core/ir/trace.h"
#include "predict/timeline/device_plan.h"

namespace shoal::internal {

enum class TimeKind : uint8_t { kMatrix, kMemory, kCommunication, kCopy, kIdle };
inline constexpr size_t kTimeKinds = 5;
std::string_view ToString(TimeKind kind);

// An instruction over the whole step.
struct OpTime {
  const Instruction* hlo = nullptr;
  KernelKind family{};
  TimeKind kind = TimeKind::kMemory;
  double times = 0, seconds = 0;  // how often it runs, and how long all of it takes
  double flops = 0, bytes = 0;    // of all
  KernelTime timing;              // of one, the last time it was priced
  CacheTraffic traffic;
  KernelDescriptor kernel;
};

// A collective, or a copy beside the kernels, over the whole step.
struct AsyncTime {
  const PlannedAsync* async = nullptr;
  double times = 0, seconds = 0, exposed = 0;  // exposed: kernels wait for it
};

// Devices that do the same.
struct ClassTime {
  std::string name;  // "every device", "devices 0-3"
  double devices = 0;
  double step_seconds = 0, device_seconds = 0;
  std::array<double, kTimeKinds> kinds{};
};

// Of the class that takes longest, but for the classes and the trace, which are of all.
struct SimulatedStep {
  double step_seconds = 0;    // from step to step
  double device_seconds = 0;  // that the device works, or waits for others
  std::array<double, kTimeKinds> kinds{};
  double launches = 0, host_seconds = 0;
  double flops = 0, bytes = 0;
  std::vector<OpTime> ops;          // the longest first
  std::vector<AsyncTime> asyncs;    // the most exposed first
  Trace trace;                      // a device for each class
  std::vector<ClassTime> classes;   // one where all devices are alike
  size_t slowest_class = 0;
  std::shared_ptr<const DevicePlan> plan;  // that asyncs point into
  bool schedule_is_estimated = false;
  std::vector<std::string> notes;
};

SimulatedStep Predict(const DevicePlanInput& input);

}  // namespace shoal::internal
