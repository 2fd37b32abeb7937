// Device: one of the virtual devices that run a module. Each runs on its own thread, evaluates computations and tracks
// its control-flow position.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <span>
#include <stop_token>
#include <unordered_set>

#include "core/ops/numerics.h"
#include "execute/collectives/collective_runtime.h"
#include "execute/interp/plan.h"

namespace shoal::internal {

class Device;

class Observer {
 public:
  virtual ~Observer() = default;
  // Called on the device's thread after each instruction, parameter and constant. An error stops the run.
  virtual Status OnValue(const Device& device, const Instruction& hlo, const Value& value) = 0;
};

// The calls of an unknown custom call: the first instruction and the number of calls.
struct Stub {
  const Instruction* first = nullptr;
  int64_t count = 0;
};
using Stubs = std::map<std::string_view, Stub>;  // keyed by target

class Job;
class SmallMessageCollective;
class ThreadPool;
class Ticker;
struct Placement;

// Called about every 100 ms while the devices run, to show progress.
using Watch = std::function<void(std::span<const std::unique_ptr<Device>> devices)>;

// The settings of one run.
struct RunSettings {
  // The pool of instructions and devices: at most pool->threads() devices run at a time. Several runs and executables
  // may share it. Null: each device runs its instructions on one thread, and as many devices run as there are cores.
  ThreadPool* pool = nullptr;
  // Stops the run with an error of rule kRunCancelled.
  std::stop_token cancel;
  Watch watch;
  Ticker* ticker = nullptr;  // calls `watch`; null: the run starts its own thread if it needs one
  // The job and the device placement, if some devices run in other processes. Null: all devices are in this process.
  Job* job = nullptr;
  const Placement* placement = nullptr;
  // Arrays of the arguments that have no other owner may be overwritten.
  bool donate_arguments = false;
  bool stub_custom_calls = false;
  uint64_t random_seed = 0;  // seed of rng, for which HLO does not define the numbers
  Numerics numerics = Numerics::kXlaCpu;
  bool times_fallbacks = false;  // measure the time in steps for which the engine has no code
  Observer* observer = nullptr;
  // Limits that stop a run; 0: no limit.
  int64_t max_instructions = 0;  // limit for each device
  int64_t max_bytes = 0;         // limit for the arrays of each device; 0: physical memory
  double max_seconds = 0;
  // Receives the data of outfeeds on the device's thread. May be empty.
  std::function<Status(const Device& device, const Instruction& hlo, const Value& value)> outfeed;
};

// Contiguous elements of one type, one per lane: LanesIn as inputs, LanesOut as outputs.
struct LanesIn {
  ElementType type;
  const std::byte* data;
};
struct LanesOut {
  ElementType type;
  std::byte* data;
};

class Device {
 public:
  // Runs computations for collectives between processes, on the polling thread. Null if there is only one process.
  Device* polling_device = nullptr;

  Device(int64_t id, const DeviceGrid& grid, const ModulePlan& plans, CollectiveRuntime& world, const RunSettings& settings);

  int64_t id() const { return id_; }
  int64_t replica() const { return grid_.ReplicaOf(id_); }
  int64_t partition() const { return grid_.PartitionOf(id_); }
  const DeviceGrid& grid() const { return grid_; }
  const ModulePlan& plans() const { return plans_; }
  CollectiveRuntime& world() { return world_; }
  const RunSettings& settings() const { return settings_; }
  ThreadPool& pool() const { return *settings_.pool; }  // never null during a run
  ControlFlowState& control_flow_state() { return control_flow_state_; }

  Result<Value> Run(const Computation& computation, std::vector<Value> arguments);

  // Evaluates one instruction: converts the operands to its working types, and checks the result against the declared
  // shape. May modify the operands. All instructions are evaluated by this function.
  Result<Value> Evaluate(const EvalStep& step, std::span<Value> operands);

  // Runs the computation on n lanes, as a LaneFunction if possible, else lane by lane. Converts lanes whose type
  // differs from the computation's parameter or result type. `at` is the calling instruction.
  Status RunLanes(const Instruction& at, const Computation& computation, std::span<const LanesOut> outs,
                  std::span<const LanesIn> ins, int64_t n);

  // Counters for the progress line. Other threads may read them.
  struct Progress {
    std::atomic<int64_t> instructions = 0;
    std::atomic<int64_t> iterations = 0;
    std::atomic<const Instruction*> now = nullptr;
  };
  const Progress& progress() const { return progress_; }
  void CountIteration(int64_t count = 1) { progress_.iterations.fetch_add(count, std::memory_order_relaxed); }

  // The state of each rng-get-and-update-state, and the number of rng instructions executed so far.
  std::map<const Instruction*, unsigned __int128> rng_states;
  uint64_t rng_calls = 0;
  // The unknown custom calls for which results were generated.
  Stubs stubs;
  // For each while loop, the number of times it was reached and its total iterations.
  struct LoopRuns {
    int64_t entered = 0, iterations = 0;
  };
  std::map<const Instruction*, LoopRuns> loops;
  // Number of times each branch of a conditional was taken.
  std::map<const Instruction*, std::vector<int64_t>> branches;
  // Non-terminating loops that the run exited.
  std::set<const Instruction*> endless_loops;
  // Seconds in each step for which the engine has no code, if settings().times_fallbacks.
  std::map<const Instruction*, double> fallback_seconds;
  // All-gathers that were compiled for more devices than the only device of this run.
  std::set<const Instruction*> padded_gathers;
  // Pending TPU async collective fusions by channel and chain, with operands and result of the first fusion.
  struct Chain {
    std::vector<Value> operands;
    Value result;
  };
  std::map<std::pair<int64_t, std::string_view>, Chain> chains;
  // Small-message collectives between processes, created at first use; null: not eligible.
  std::unordered_map<const Instruction*, std::shared_ptr<SmallMessageCollective>> small_collectives;
  // Number of infeeds and host transfers so far.
  int64_t host_reads = 0;

 private:
  Result<Value> RunFallback(const EvalStep& step, Call& call);
  Result<Value> RunStep(const EvalStep& step, std::span<Value> values);
  Status RunTypedLanes(const Computation& computation, std::span<std::byte* const> outs,
                       std::span<const std::byte* const> ins, int64_t n);

  int64_t id_;
  const DeviceGrid& grid_;
  const ModulePlan& plans_;
  CollectiveRuntime& world_;
  const RunSettings& settings_;
  ControlFlowState control_flow_state_;
  Progress progress_;
  int64_t depth_ = 0;
  bool in_fallback_ = false;                            // inside a step for which the engine has no code
  bool in_lanes_ = false;                               // running a scalar computation that an op calls per element
  std::unordered_set<const ComputationPlan*> has_run_;  // computations with invariants that already ran here
};

}  // namespace shoal::internal
