// What handles to buffers, executables and runs share.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "api/cpp/job_state.h"
#include "api/cpp/module_state.h"
#include "core/base/thread_pool.h"
#include "execute/data/generate.h"
#include "execute/data/leaves.h"
#include "execute/interp/step_log.h"
#include "execute/interp/ticker.h"
#include "execute/runtime/executable.h"
#include "execute/runtime/run_warnings.h"
#include "present/reports/run_report.h"
#include "shoal/execute.h"

namespace shoal::internal {

struct BufferState {
  Array array;
};

struct ExecutableState {
  ModuleHandle module;
  std::shared_ptr<ThreadPool> pool;
  InferredGrid devices;
  NumericsChoice numerics;
  std::shared_ptr<const Executable> executable;
  std::vector<Leaf> parameters, results;
  Diags diags;  // warnings about the module
  MixedFloats mixed;
  std::vector<std::string> warnings;
  bool is_observable = false;  // every instruction of the module runs
  shoal::Job job;
  std::optional<Placement> placement_in_job;
  mutable Ticker ticker;  // of one of the runs

  const Placement* placement() const { return placement_in_job ? &*placement_in_job : nullptr; }
  bool IsLocal(size_t device) const { return !placement_in_job || placement_in_job->IsLocal(static_cast<int64_t>(device)); }
  int64_t LocalDevices() const { return placement_in_job ? std::ssize(placement_in_job->Local()) : devices.grid.count(); }

  bool is_compiled() const { return executable->program() != nullptr; }
  double compile_seconds() const { return is_compiled() ? executable->compile_seconds() : 0; }
};

// A run's report and what it points to.
struct RunState {
  std::shared_ptr<const ExecutableState> executable;
  RunReport report;  // has outputs only if some of them are in other processes
  Diags warnings;    // of the run
  std::unique_ptr<StepLog> log;
  bool has_all_outputs = false;  // of devices in other processes too
};

struct PendingState {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::optional<shoal::Result<RunResult>> result;
  std::stop_source stop;
  std::thread thread;
};

// Runs the executable's module.
shoal::Result<RunOutcome> RunArguments(const std::shared_ptr<const ExecutableState>& executable, Arguments arguments,
                                       const shoal::ExecuteOptions& options, Observer* observer = nullptr);
// Fails if the arguments of a device need more than `max_bytes`; 0: no limit.
Status CheckArgumentBytes(const Module& module, int64_t max_bytes);
// The generated arguments, with a call of options.progress as they grow.
Result<Arguments> GenerateInputs(const Module& module, const DeviceGrid& grid, const InputOptions& options, const Placement* placement);
// "; parameter 3: in [0, 8), used as indices", for generated inputs.
std::string GeneratedInputNotes(const Module& module, const InputOptions& options);

// The array as a buffer of the public API.
shoal::Buffer MakeBuffer(Array array);

}  // namespace shoal::internal
