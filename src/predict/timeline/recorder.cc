#include "predict/timeline/recorder.h"

#include <algorithm>

#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxEvents = 200000;

}  // namespace

TimeKind KindOfKernel(KernelKind family) {
  switch (family) {
    case KernelKind::kGemm:
    case KernelKind::kTritonGemm:
    case KernelKind::kConvolution:
    case KernelKind::kAttention: return TimeKind::kMatrix;
    case KernelKind::kHostCopy: return TimeKind::kCopy;
    default: return TimeKind::kMemory;
  }
}

Recorder::Recorder(const DevicePlanInput& input, const DevicePlan& plan, const std::string& device) : input_(input) {
  result_.schedule_is_estimated = plan.is_estimated;
  result_.notes = plan.notes;
  result_.trace.source = "predicted";
  result_.trace.devices = {device};
  result_.trace.streams = {"kernels", "intra-node collectives", "inter-node collectives", "copies"};
}

void Recorder::Kernel(const DevicePlanOp& op, const KernelDescriptor& kernel, const CacheTraffic& traffic, const KernelTime& timing,
                      double start, double seconds, double weight) {
  auto [found, inserted] = op_of_.try_emplace(op.hlo, result_.ops.size());
  if (inserted) result_.ops.push_back({op.hlo, kernel.family, KindOfKernel(kernel.family), 0, 0, 0, 0, {}, {}, {}});
  OpTime& time = result_.ops[found->second];
  time.times += weight;
  time.seconds += weight * seconds;
  time.flops += weight * kernel.flops;
  time.bytes += weight * (kernel.read() + kernel.written);
  time.timing = timing;
  time.traffic = traffic;
  time.kernel = kernel;
  result_.launches += weight * timing.launches;
  result_.kinds[static_cast<size_t>(time.kind)] += weight * seconds;
  AddEvent(std::string(op.hlo->name), kCompute, start, seconds, std::string(ToString(time.kind)), weight,
           {{"bound", std::string(ToString(timing.bound))}, {"kernel", std::string(ToString(kernel.family))}}, op.hlo);
}

void Recorder::Transfer(const DevicePlanOp& op, Stream stream, double start, double weight) {
  const PlannedAsync& async = *op.async;
  AsyncTime& time = AsyncOf(async);
  time.times += weight;
  time.seconds += weight * async.timing.seconds;
  if (async.use != nullptr) result_.launches += weight;
  started_[&async] = AddEvent(
      std::string(op.hlo->name), stream, start, async.timing.seconds, "communication", weight,
      {{"algorithm", async.timing.algorithm}, {"bytes", StrCat(async.bytes)}, {"members", StrCat(async.place.members)}}, op.hlo);
}

void Recorder::Received(const PlannedAsync& async, double weight) {
  AsyncTime& time = AsyncOf(async);
  time.times += weight;
  time.seconds += weight * async.timing.seconds;
}

void Recorder::Wait(const PlannedAsync* async, std::span<const Part> during, double start, double seconds, double weight) {
  double late = seconds;
  for (const Part& part : during) {
    const bool is_copy = part.async->use == nullptr;
    result_.kinds[static_cast<size_t>(is_copy ? TimeKind::kCopy : TimeKind::kCommunication)] += weight * part.seconds;
    AsyncOf(*part.async).exposed += weight * part.seconds;
    late -= part.seconds;
  }
  late = std::max(0.0, late);
  result_.kinds[static_cast<size_t>(TimeKind::kCommunication)] += weight * late;
  result_.late_seconds += weight * late;
  if (async == nullptr) {
    AddEvent("wait for collectives", kCompute, start, seconds, "exposed", weight, {}, nullptr);
    return;
  }
  const size_t event = AddEvent(StrCat("wait for ", async->start->name), kCompute, start, seconds, "exposed", weight, {}, nullptr);
  if (auto from = started_.find(async); from != started_.end() && event < kMaxEvents)
    result_.trace.flows.push_back({from->second, event});
}

void Recorder::RemainingIterations(const Instruction& loop, double iterations, double start, double seconds) {
  AddEvent(StrCat(loop.name, ": ", iterations, " more iterations"), kCompute, start, seconds, "loop", iterations, {}, nullptr);
}

AsyncTime& Recorder::AsyncOf(const PlannedAsync& async) {
  auto [found, inserted] = async_of_.try_emplace(&async, result_.asyncs.size());
  if (inserted) result_.asyncs.push_back({&async, 0, 0, 0});
  return result_.asyncs[found->second];
}

size_t Recorder::AddEvent(std::string name, Stream stream, double start, double seconds, std::string category, double times,
                          Details details, const Instruction* hlo) {
  std::vector<TraceEvent>& events = result_.trace.events;
  if (events.size() >= kMaxEvents) return kMaxEvents;
  if (hlo != nullptr)
    if (std::string location = input_.facts.sources().Of(*hlo); !location.empty())
      details.emplace_back("source", std::move(location));
  if (hlo != nullptr && input_.origins != nullptr)
    if (auto origin = input_.origins->find(hlo); origin != input_.origins->end()) hlo = origin->second;
  events.push_back({std::move(name), 0, stream, start, seconds, std::move(category), std::move(details), times, hlo});
  return events.size() - 1;
}

SimulatedStep Recorder::Finish(double result_bytes) {
  const Machine& machine = input_.machine;
  for (const OpTime& op : result_.ops) result_.flops += op.flops, result_.bytes += op.bytes;
  for (size_t i = 0; i < kTimeKinds; ++i)
    if (i != static_cast<size_t>(TimeKind::kIdle)) result_.device_seconds += result_.kinds[i];
  const bool gpu = machine.device.kind == DeviceKind::kGpu;
  const double start = gpu ? machine.kernels.step_start * 1e-6 + machine.kernels.result_new * 1e-15 * result_bytes : 0;
  const double device = result_.device_seconds + gaps_ + start;
  result_.host_seconds = machine.device.step_overhead + (gpu ? machine.device.launch_overhead * result_.launches : 0);
  result_.step_seconds = std::max(device, result_.host_seconds) + round_trips_;
  result_.kinds[static_cast<size_t>(TimeKind::kIdle)] = result_.step_seconds - result_.device_seconds;
  std::stable_sort(result_.ops.begin(), result_.ops.end(), [](const OpTime& a, const OpTime& b) { return a.seconds > b.seconds; });
  std::stable_sort(result_.asyncs.begin(), result_.asyncs.end(),
                   [](const AsyncTime& a, const AsyncTime& b) { return a.exposed > b.exposed; });
  return std::move(result_);
}

}  // namespace shoal::internal
