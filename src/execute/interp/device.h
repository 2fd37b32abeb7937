// Device: one of the virtual devices that run a module; a thread of its own. It evaluates computations and knows where
// it is in them.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <unordered_set>

#include "core/ops/numerics.h"
#include "execute/collectives/collective_runtime.h"
#include "execute/interp/plan.h"

namespace shoal::internal {

// What somebody watching a run is told.
class Observer {
 public:
  virtual ~Observer() = default;
  // After each instruction, parameters and constants too, from the device's thread. A failure stops the run.
  virtual Status OnValue(const Device& device, const Instruction& hlo, const Value& value) = 0;
};

// A custom call that nobody knows: where it was met first, and how often.
struct Stub {
  const Instruction* first = nullptr;
  int64_t count = 0;
};
using Stubs = std::map<std::string_view, Stub>;  // by target

class Job;
class SmallMessageCollective;
struct Placement;

struct RunSettings {
  // Where some of the devices run in other processes: of which job, and which. Null: all are here.
  Job* job = nullptr;
  const Placement* placement = nullptr;
  bool stub_custom_calls = false;
  uint64_t random_seed = 0;  // of rng, whose numbers no module determines
  Numerics numerics = Numerics::kXlaCpu;
  Observer* observer = nullptr;
  // Where a run that may not end is given up; 0: nowhere.
  int64_t max_instructions = 0;  // on each device
  int64_t max_bytes = 0;         // of each device's arrays
  double max_seconds = 0;
  // Takes what an outfeed gives the host, from the device's thread; may be empty.
  std::function<Status(const Device& device, const Instruction& hlo, const Value& value)> outfeed;
};

// Elements of one type, one after the other.
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
  // With other processes: runs the computations of collectives between them, in whatever thread polls. Else null.
  Device* polling_device = nullptr;

  Device(int64_t id, const DeviceGrid& grid, const ModulePlan& plans, CollectiveRuntime& world, const RunSettings& settings);

  int64_t id() const { return id_; }
  int64_t replica() const { return grid_.ReplicaOf(id_); }
  int64_t partition() const { return grid_.PartitionOf(id_); }
  const DeviceGrid& grid() const { return grid_; }
  const ModulePlan& plans() const { return plans_; }
  CollectiveRuntime& world() { return world_; }
  const RunSettings& settings() const { return settings_; }
  ControlFlowState& control_flow_state() { return control_flow_state_; }

  // The computation's root for these arguments.
  Result<Value> Run(const Computation& computation, std::vector<Value> arguments);

  // One step with its operands, which it may take apart: converted to the types it is computed in, evaluated, and the
  // value held against the declared shape. Nothing evaluates an instruction but through here.
  Result<Value> Evaluate(const EvalStep& step, std::span<Value> operands);

  // The computation as a function of lanes (see LaneFunction); where it is more than that, each lane is run for itself.
  // Lanes of another type than the computation's parameter or result are converted. `at` is the instruction that asks.
  Status RunLanes(const Instruction& at, const Computation& computation, std::span<const LanesOut> outs,
                  std::span<const LanesIn> ins, int64_t n);

  // Counts for the progress line; may be read from another thread.
  struct Progress {
    std::atomic<int64_t> instructions = 0;
    std::atomic<int64_t> iterations = 0;
    std::atomic<const Instruction*> now = nullptr;
  };
  const Progress& progress() const { return progress_; }
  void CountIteration(int64_t count = 1) { progress_.iterations.fetch_add(count, std::memory_order_relaxed); }

  // The state of each rng-get-and-update-state, and the number of rng instructions so far.
  std::map<const Instruction*, unsigned __int128> rng_states;
  uint64_t rng_calls = 0;
  // Targets of custom calls that were given made-up results.
  Stubs stubs;
  // How often each while was come to, and how often its body ran.
  struct LoopRuns {
    int64_t entered = 0, iterations = 0;
  };
  std::map<const Instruction*, LoopRuns> loops;
  // How often each branch of a conditional was taken.
  std::map<const Instruction*, std::vector<int64_t>> branches;
  // Loops that were left because they would never have ended.
  std::set<const Instruction*> endless_loops;
  // All-gathers that were made for more devices than the one there is.
  std::set<const Instruction*> padded_gathers;
  // TPU async collective fusions that are under way, by channel and chain: what their first fusion began.
  struct Chain {
    std::vector<Value> operands;
    Value result;
  };
  std::map<std::pair<int64_t, std::string_view>, Chain> chains;
  // Collectives of few bytes between processes, made ready when they are first come to; null: one like any other.
  std::unordered_map<const Instruction*, std::shared_ptr<SmallMessageCollective>> small_collectives;
  // Infeeds and host transfers so far.
  int64_t host_reads = 0;

 private:
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
  bool in_lanes_ = false;                    // in a computation of scalars that an op runs for each element
  std::unordered_set<const ComputationPlan*> has_run_;  // of those with invariants
};

}  // namespace shoal::internal
