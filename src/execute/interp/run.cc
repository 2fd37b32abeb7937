#include "execute/interp/run.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "core/base/host_memory.h"
#include "core/base/settings.h"
#include "core/base/thread_pool.h"
#include "core/base/threads.h"
#include "core/base/environment_error.h"
#include "execute/collectives/process_link.h"
#include "execute/interp/elastic_threads.h"
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

// Calls task(array) for each array of the value. The value stays as it is, except for its arrays.
template <class Task>
void ForEachArray(Value& value, const Task& task) {
  if (value.IsArray()) return task(value.array());
  if (!value.IsTuple()) return;
  std::vector<Value> elements;
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) {
    elements.push_back(value.TakeElement(i));
    ForEachArray(elements.back(), task);
  }
  value = Value::Tuple(std::move(elements));
}

void AddDevice(const Device& device, RunStats& stats) {
  stats.instructions += device.progress().instructions;
  stats.iterations += device.progress().iterations;
  stats.endless_loops.insert(device.endless_loops.begin(), device.endless_loops.end());
  stats.padded_gathers.insert(device.padded_gathers.begin(), device.padded_gathers.end());
  for (const auto& [hlo, seconds] : device.fallback_seconds) stats.fallback_seconds[hlo] += seconds;
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
int64_t RunSlotCount(const RunSettings& settings) {
  if (settings.pool != nullptr) return settings.pool->threads();
  if (settings.job != nullptr) return settings.job->cores();
  static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // reads a file
  return cores;
}

}  // namespace

Result<RunOutcome> RunPlan(const ModulePlan& plan, const DeviceGrid& grid, std::vector<std::vector<Value>> inputs,
                           RunSettings settings) {
  const auto start = Clock::now();
  const auto count = static_cast<size_t>(grid.count());
  const Placement placement = settings.placement == nullptr ? SingleProcessPlacement(grid.count()) : *settings.placement;
  const std::vector<int64_t> local = placement.Local();
  const int64_t run_slots = RunSlotCount(settings);
  std::optional<ThreadPool> one_thread;
  if (settings.pool == nullptr) settings.pool = &one_thread.emplace(1);
  std::vector<std::unique_ptr<MemoryMeter>> meters;  // declared first: they must outlive all arrays of the run
  RunOutcome outcome;
  std::vector<std::vector<Value>> arguments = std::move(inputs);
  std::unique_ptr<ProcessLink> link;
  if (settings.job != nullptr) link = std::make_unique<ProcessLink>(*settings.job, placement, plan.module());
  CollectiveRuntime runtime(grid, plan.module().source.get(), run_slots, link.get(), settings.pool);
  Device polling(local.empty() ? 0 : local[0], grid, plan, runtime, settings);
  std::vector<std::unique_ptr<Device>> devices;
  for (int64_t id : local) {
    devices.push_back(std::make_unique<Device>(id, grid, plan, runtime, settings));
    devices.back()->polling_device = link == nullptr ? nullptr : &polling;
  }
  for (size_t d = 0; d < count; ++d) {
    meters.push_back(std::make_unique<MemoryMeter>());
    meters.back()->Limit(settings.max_bytes > 0 ? settings.max_bytes : PhysicalMemoryBytes());
    if (!placement.IsLocal(static_cast<int64_t>(d))) arguments[d].clear();
    // Charges arguments to the device that receives them. Freezes them, because several devices may share them.
    for (Value& argument : arguments[d])
      ForEachArray(argument, [&](Array& array) {
        if (!settings.donate_arguments || !array.unique()) array.Freeze();
        array.ChargeTo(meters[d].get());
      });
  }
  outcome.results.resize(count);
  auto run = [&](Device& device) {
    const auto d = static_cast<size_t>(device.id());
    RunDevice(device, runtime, *meters[d], std::move(arguments[d]), outcome.results[d]);
  };
  if (link != nullptr) link->Attach(runtime);
  const std::stop_callback cancel(settings.cancel, [&] { runtime.Stop(Fail({}, kRunCancelled, "the run was cancelled")); });
  const Ticker::Callback poll = [&] {
    if (settings.watch) settings.watch(devices);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (settings.max_seconds > 0 && seconds > settings.max_seconds)
      runtime.Stop(Fail(LocationOf(*devices[0]), "run.time",
                        StrCat("the run took ", seconds, " s, which exceeds ", Setting("max_seconds"))));
  };
  const bool needs_ticks = settings.watch || settings.max_seconds > 0;
  std::optional<Ticker> own_ticker;
  Ticker* ticker = settings.ticker;
  if (needs_ticks && ticker == nullptr) ticker = &own_ticker.emplace();
  if (count == 1 && link == nullptr && (!needs_ticks || ticker->Start(poll))) {
    // If there is only one device, the calling thread runs it instead of waiting.
    const absl::Cleanup restore = [&, before = Buffer::MeterOfThisThread()] {
      if (needs_ticks) ticker->Stop();
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
    for (int64_t i = 0; i < run_slots; ++i) {
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
  for (const std::unique_ptr<MemoryMeter>& meter : meters) outcome.stats.peak_bytes.push_back(meter->peak());
  for (const std::unique_ptr<Device>& device : devices) AddDevice(*device, outcome.stats);
  if (link != nullptr) GatherStats(*link, outcome.stats);
  for (Value& result : outcome.results) ForEachArray(result, [](Array& array) { array.ChargeTo(nullptr); });
  return outcome;
}

Result<Value> EvaluateConstantModule(const Module& module) {
  const ModulePlan plan({std::shared_ptr<const Module>(), &module});
  SHOAL_ASSIGN(outcome, RunPlan(plan, DeviceGrid{}, std::vector<std::vector<Value>>(1), {}));
  return std::move(outcome.results[0]);
}

}  // namespace shoal::internal
