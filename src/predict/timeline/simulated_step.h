// The predicted timeline of a module on a machine, simulated for one representative device of each device class.
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

// The time of an instruction over the whole step.
struct OpTime {
  const Instruction* hlo = nullptr;
  KernelKind family{};
  TimeKind kind = TimeKind::kMemory;
  double times = 0, seconds = 0;  // number of executions, and the total time of all executions
  double flops = 0, bytes = 0;    // totals of all executions
  KernelTime timing;              // time of the last simulated execution
  CacheTraffic traffic;
  KernelDescriptor kernel;
};

// The time of a collective or an async copy over the whole step.
struct AsyncTime {
  const PlannedAsync* async = nullptr;
  double times = 0, seconds = 0, exposed = 0;  // `exposed` is the time of it during which kernels wait
};

// The times of a class of devices with equal behaviour.
struct ClassTime {
  std::string name;  // "every device", "devices 0-3"
  double devices = 0;
  double step_seconds = 0, device_seconds = 0;
  std::array<double, kTimeKinds> kinds{};
};

// The prediction for the slowest device class. Only `classes` and `trace` cover all classes.
struct SimulatedStep {
  double step_seconds = 0;    // the whole step, including idle time
  double device_seconds = 0;  // time in which the device computes or waits for transfers
  std::array<double, kTimeKinds> kinds{};
  double late_seconds = 0;    // part of the communication: waiting for devices that are late, not for a transfer
  double launches = 0, host_seconds = 0;
  double flops = 0, bytes = 0;
  std::vector<OpTime> ops;         // sorted by decreasing time
  std::vector<AsyncTime> asyncs;   // sorted by decreasing exposed time
  Trace trace;                     // has one device per class
  std::vector<ClassTime> classes;  // has one entry if all devices behave equally
  size_t slowest_class = 0;
  std::shared_ptr<const DevicePlan> plan;  // owns the operations that `asyncs` points to
  bool schedule_is_estimated = false;
  std::vector<std::string> notes;
};

SimulatedStep Predict(const DevicePlanInput& input);

}  // namespace shoal::internal
