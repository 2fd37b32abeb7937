// What handles to buffers, executables and runs share.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "api/cpp/module_state.h"
#include "core/base/thread_pool.h"
#include "execute/data/leaves.h"
#include "execute/interp/step_log.h"
#include "execute/runtime/executable.h"
#include "present/reports/run_report.h"
#include "shoal/execute.h"

namespace shoal::internal {

struct BufferState {
  Array array;
  std::shared_ptr<const ExecutableState> owner;  // of constants that the array may borrow
};

struct ExecutableState {
  ModuleHandle module;
  std::shared_ptr<ThreadPool> pool;
  InferredGrid devices;
  NumericsChoice numerics;
  std::unique_ptr<Executable> engine;           // null: the interpreter runs the module
  std::unique_ptr<ModulePlan> interpreter_plan;  // null: the engine runs the module
  std::vector<Leaf> parameters, results;
  Diags diags;  // warnings about the module
  MixedFloats mixed;
  std::vector<std::string> warnings;

  const ModulePlan& plan() const { return engine != nullptr ? engine->plans() : *interpreter_plan; }
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

// The array as a buffer of the public API.
shoal::Buffer MakeBuffer(Array array, std::shared_ptr<const ExecutableState> owner = nullptr);

}  // namespace shoal::internal
