// What handles to buffers, executables and runs share.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "api/cpp/module_state.h"
#include "core/base/thread_pool.h"
#include "execute/data/generate.h"
#include "execute/data/leaves.h"
#include "execute/interp/step_log.h"
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

  bool is_compiled() const { return executable->program() != nullptr; }
  double compile_seconds() const { return is_compiled() ? executable->compile_seconds() : 0; }
};

// A run's report and what it points to.
struct RunState {
  std::shared_ptr<const ExecutableState> executable;
  RunReport report;  // without outputs
  std::unique_ptr<StepLog> log;
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

// The array as a buffer of the public API.
shoal::Buffer MakeBuffer(Array array);

}  // namespace shoal::internal
