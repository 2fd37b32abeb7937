#include "interp/run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "kernels/machine.h"

namespace shoal {
namespace {

using Clock = std::chrono::steady_clock;

TextSpan PlaceOf(const Device& device) {
  const Instruction* now = device.progress().now;
  return now == nullptr ? TextSpan() : now->at;
}

Diag NotEnoughMemory(const Device& device, const MemoryMeter& meter) {
  const Instruction* now = device.progress().now;
  return Fail(PlaceOf(device), "run.memory",
              StrCat(now == nullptr ? "the module" : now->name, " needs more memory than there is: device ",
                     device.id(), " holds ", meter.current(), " of ", meter.limit(), " bytes",
                     now == nullptr ? "" : StrCat(" and it gives ", ToString(now->shape()))));
}

// One device's thread.
void RunDevice(Device& device, World& world, MemoryMeter& meter, std::vector<Value> arguments, Value& result) {
  Buffer::MeterThisThread(&meter);
  world.TakeTurn(device.id());
  try {
    Result<Value> value = device.Run(*device.plans().module().entry, std::move(arguments));
    if (value.ok()) {
      result = std::move(*value);
      world.Finish(device.id(), device.whereabouts());
    } else {
      world.Stop(std::move(value.diag()));
    }
  } catch (const std::bad_alloc&) {
    world.Stop(NotEnoughMemory(device, meter));
  } catch (const std::exception& error) {  // none of ours, but a user has more from a sentence than from an abort
    world.Stop(Fail(PlaceOf(device), "run.defect", StrCat("shoal itself is at fault here: ", error.what())));
  }
  world.ReturnTurn(device.id());
}

// Arguments count for the device that gets them. They stay as they are: several devices may have been given the same.
void Give(Value& argument, MemoryMeter& meter) {
  if (argument.IsArray()) {
    argument.array().Fix();
    argument.array().CountFor(&meter);
  }
  if (!argument.IsTuple()) return;
  std::vector<Value> elements;
  for (int64_t i = 0; i < std::ssize(argument.elements()); ++i) {
    elements.push_back(argument.TakeElement(i));
    Give(elements.back(), meter);
  }
  argument = Value::Tuple(std::move(elements));
}

// Lets the caller look at the devices while they run.
class Lookout {
 public:
  void DeviceDone() {
    std::lock_guard lock(mutex_);
    ++done_;
    changed_.notify_one();
  }
  void WatchUntil(int64_t all, const std::function<void()>& watch) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return done_ == all; })) {
      lock.unlock();
      watch();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t done_ = 0;
};

}  // namespace

Result<RunOutcome> RunModule(const Plans& plans, const DeviceGrid& grid, std::vector<std::vector<Value>> arguments,
                             const RunSettings& settings, const Watch& watch) {
  const auto start = Clock::now();
  const auto count = static_cast<size_t>(grid.count());
  RunOutcome outcome;  // first: its meters count what the world and the devices hold to the end
  World world(grid, plans.module().source.get(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::unique_ptr<Device>> devices;
  for (int64_t id = 0; id < grid.count(); ++id) {
    devices.push_back(std::make_unique<Device>(id, grid, plans, world, settings));
    outcome.meters.push_back(std::make_unique<MemoryMeter>());
    outcome.meters.back()->Limit(settings.most_bytes > 0 ? settings.most_bytes : MachineBytes());
  }
  outcome.results.resize(count);
  for (size_t d = 0; d < count; ++d)
    for (Value& argument : arguments[d]) Give(argument, *outcome.meters[d]);
  Lookout lookout;
  if (count == 1 && !watch) {
    // Nobody watches and nobody else runs: the thread that waits can do it.
    MemoryMeter* before = Buffer::MeterOfThisThread();
    RunDevice(*devices[0], world, *outcome.meters[0], std::move(arguments[0]), outcome.results[0]);
    Buffer::MeterThisThread(before);
  } else {
    std::vector<std::jthread> threads;
    for (size_t d = 0; d < count; ++d)
      threads.emplace_back([&, d] {
        RunDevice(*devices[d], world, *outcome.meters[d], std::move(arguments[d]), outcome.results[d]);
        lookout.DeviceDone();
      });
    lookout.WatchUntil(grid.count(), [&] {
      if (watch) watch(devices);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (settings.most_seconds > 0 && seconds > settings.most_seconds)
        world.Stop(Fail(PlaceOf(*devices[0]), "run.time",
                        StrCat("the run has taken ", seconds, " s, more than --max_seconds allows")));
    });
  }
  if (std::optional<Diag> reason = world.reason()) return std::move(*reason);
  outcome.stats.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.stats.traffic = world.traffic();
  for (size_t d = 0; d < count; ++d) {
    outcome.stats.instructions += devices[d]->progress().instructions;
    outcome.stats.iterations += devices[d]->progress().iterations;
    outcome.stats.peak_bytes.push_back(outcome.meters[d]->peak());
    outcome.stats.endless_loops.insert(devices[d]->endless_loops.begin(), devices[d]->endless_loops.end());
    outcome.stats.padded_gathers.insert(devices[d]->padded_gathers.begin(), devices[d]->padded_gathers.end());
    for (const auto& [loop, runs] : devices[d]->loops) {
      outcome.stats.loops[loop].entered += runs.entered;
      outcome.stats.loops[loop].rounds += runs.rounds;
    }
    for (const auto& [conditional, taken] : devices[d]->branches) {
      std::vector<int64_t>& sums = outcome.stats.branches[conditional];
      sums.resize(taken.size());
      for (size_t b = 0; b < taken.size(); ++b) sums[b] += taken[b];
    }
    for (const auto& [target, stub] : devices[d]->stubs)
      outcome.stats.stubs.try_emplace(target, Stub{stub.first, 0}).first->second.count += stub.count;
  }
  return outcome;
}

}  // namespace shoal
