#include "execute/interp/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "core/base/host_memory.h"
#include "core/base/thread_pool.h"
#include "core/base/environment_error.h"
#include "execute/collectives/process_link.h"
#include "execute/interp/elastic_threads.h"
#include "execute/interp/thunk.h"
#include "execute/interp/job_stats.h"
#include "execute/interp/progress_poller.h"
#include "execute/interp/ticker.h"

namespace shoal::internal {
namespace {

using Clock = std::chrono::steady_clock;

TextSpan LocationOf(const Device& device) {
  const Instruction* now = device.progress().now;
  return now == nullptr ? TextSpan() : now->at;
}

Diag NotEnoughMemory(const Device& device, const MemoryMeter& meter) {
  const Instruction* now = device.progress().now;
  return Fail(LocationOf(device), "run.memory",
              StrCat(now == nullptr ? "the module" : now->name, " needs more memory than is available: device ",
                     device.id(), " uses ", meter.current(), " of ", meter.limit(), " bytes",
                     now == nullptr ? "" : StrCat(", and the result is ", ToString(now->shape()))));
}

// Runs the entry computation on one device, on the device's thread.
void RunDevice(Device& device, CollectiveRuntime& runtime, MemoryMeter& meter, std::vector<Value> arguments,
               Value& result) {
  Buffer::MeterThisThread(&meter);
  runtime.AcquireRunSlot(device.id());
  try {
    Result<Value> value = device.Run(*device.plans().module().entry, std::move(arguments));
    if (value.ok()) {
      result = std::move(*value);
      runtime.Finish(device.id(), device.control_flow_state());
    } else {
      runtime.Stop(std::move(value.diag()));
    }
  } catch (const std::bad_alloc&) {
    runtime.Stop(NotEnoughMemory(device, meter));
  } catch (const std::exception& error) {  // a third-party error: a message is more useful than an abort
    runtime.Stop(Fail(LocationOf(device), "run.internal", StrCat("internal error in shoal: ", error.what())));
  }
  runtime.ReleaseRunSlot(device.id());
}

// Charges an argument to the device that receives it. Freezes the argument, because several devices may share it.
void DonateArgument(Value& argument, MemoryMeter& meter) {
  if (argument.IsArray()) {
    argument.array().Freeze();
    argument.array().ChargeTo(&meter);
  }
  if (!argument.IsTuple()) return;
  std::vector<Value> elements;
  for (int64_t i = 0; i < std::ssize(argument.elements()); ++i) {
    elements.push_back(argument.TakeElement(i));
    DonateArgument(elements.back(), meter);
  }
  argument = Value::Tuple(std::move(elements));
}

void AddDevice(const Device& device, RunStats& stats) {
  stats.instructions += device.progress().instructions;
  stats.iterations += device.progress().iterations;
  stats.endless_loops.insert(device.endless_loops.begin(), device.endless_loops.end());
  stats.padded_gathers.insert(device.padded_gathers.begin(), device.padded_gathers.end());
  for (const auto& [loop, runs] : device.loops) {
    stats.loops[loop].entered += runs.entered;
    stats.loops[loop].iterations += runs.iterations;
  }
  for (const auto& [conditional, taken] : device.branches) {
    std::vector<int64_t>& sums = stats.branches[conditional];
    sums.resize(taken.size());
    for (size_t b = 0; b < taken.size(); ++b) sums[b] += taken[b];
  }
  for (const auto& [target, stub] : device.stubs)
    stats.stubs.try_emplace(target, Stub{stub.first, 0}).first->second.count += stub.count;
}

// Number of local devices that run simultaneously: one per core of this process.
int64_t RunSlotCount(const Module& module, const RunSettings& settings) {
  const ThreadPool* pool = EnginePoolOf(*module.entry->root);
  if (pool != nullptr) return pool->threads();
  return settings.job != nullptr ? settings.job->cores() : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

Result<RunOutcome> RunModule(const ModulePlan& plans, const DeviceGrid& grid, std::vector<std::vector<Value>> inputs,
                             const RunSettings& settings, const Watch& watch) {
  const auto start = Clock::now();
  const auto count = static_cast<size_t>(grid.count());
  const Placement placement = settings.placement == nullptr ? SingleProcessPlacement(grid.count()) : *settings.placement;
  const std::vector<int64_t> local = placement.Local();
  RunOutcome outcome;  // declared first: its meters must outlive arguments, runtime and devices
  std::vector<std::vector<Value>> arguments = std::move(inputs);
  std::unique_ptr<ProcessLink> link;
  if (settings.job != nullptr) link = std::make_unique<ProcessLink>(*settings.job, placement, plans.module());
  CollectiveRuntime runtime(grid, plans.module().source.get(), RunSlotCount(plans.module(), settings), link.get());
  Device polling(local.empty() ? 0 : local[0], grid, plans, runtime, settings);
  std::vector<std::unique_ptr<Device>> devices;
  for (int64_t id : local) {
    devices.push_back(std::make_unique<Device>(id, grid, plans, runtime, settings));
    devices.back()->polling_device = link == nullptr ? nullptr : &polling;
  }
  for (size_t d = 0; d < count; ++d) {
    outcome.meters.push_back(std::make_unique<MemoryMeter>());
    outcome.meters.back()->Limit(settings.max_bytes > 0 ? settings.max_bytes : PhysicalMemoryBytes());
    if (!placement.IsLocal(static_cast<int64_t>(d))) arguments[d].clear();
    for (Value& argument : arguments[d]) DonateArgument(argument, *outcome.meters[d]);
  }
  outcome.results.resize(count);
  auto run = [&](Device& device) {
    const auto d = static_cast<size_t>(device.id());
    RunDevice(device, runtime, *outcome.meters[d], std::move(arguments[d]), outcome.results[d]);
  };
  if (link != nullptr) link->Attach(runtime);
  const Ticker::Callback poll = [&] {
    if (watch) watch(devices);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (settings.max_seconds > 0 && seconds > settings.max_seconds)
      runtime.Stop(Fail(LocationOf(*devices[0]), "run.time",
                        StrCat("the run took ", seconds, " s, which exceeds --max_seconds")));
  };
  if (count == 1 && link == nullptr && Ticker::OfProcess().Start(poll)) {
    // If there is only one device, the calling thread runs it instead of waiting.
    const absl::Cleanup restore = [before = Buffer::MeterOfThisThread()] {
      Ticker::OfProcess().Stop();
      Buffer::MeterThisThread(before);
    };
    run(*devices[0]);
  } else {
    ProgressPoller poller(std::ssize(devices));
    ElasticThreads threads(devices.size(), [&](size_t i) {
      run(*devices[i]);
      poller.MarkDone();
    });
    runtime.SetBlockingHook([&] { return threads.AddThread(); });
    for (int64_t i = 0; i < RunSlotCount(plans.module(), settings); ++i) {
      if (threads.AddThread()) continue;
      runtime.Stop(ThreadCreationError());
      threads.RunOnThisThread();  // each device detects that the run was stopped
      break;
    }
    poller.PollUntilAllDone(poll);
  }
  if (std::optional<Diag> reason = link == nullptr ? runtime.reason() : link->Join()) return std::move(*reason);
  outcome.stats.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.stats.traffic = runtime.traffic();
  for (const std::unique_ptr<MemoryMeter>& meter : outcome.meters) outcome.stats.peak_bytes.push_back(meter->peak());
  for (const std::unique_ptr<Device>& device : devices) AddDevice(*device, outcome.stats);
  if (link != nullptr) GatherStats(*link, outcome.stats);
  return outcome;
}

namespace {

Value Uncharged(const Value& value) {
  if (value.IsArray()) {
    Array copy(value.array().type(), value.array().dims());
    std::memcpy(copy.mutable_data(), value.array().data(), static_cast<size_t>(copy.bytes()));
    return copy;
  }
  if (!value.IsTuple()) return value;
  std::vector<Value> elements;
  for (const Value& element : value.elements()) elements.push_back(Uncharged(element));
  return Value::Tuple(std::move(elements));
}

}  // namespace

Result<Value> EvaluateConstantModule(const Module& module) {
  const ModulePlan plans(module);
  SHOAL_ASSIGN(outcome, RunModule(plans, DeviceGrid{}, std::vector<std::vector<Value>>(1), {}));
  return Uncharged(outcome.results[0]);
}

}  // namespace shoal::internal
