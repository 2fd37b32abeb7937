// The operations of a device in each computation, in order: kernels, collectives, waits, loops. A scheduled module
// defines the order; for other modules shoal estimates it (estimated_schedule.h).
#pragma once

#include <deque>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/collective_time.h"
#include "analyze/cost/kernel_descriptor.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/device_class.h"

namespace shoal::internal {

// An async operation that runs concurrently with the kernels.
struct PlannedAsync {
  const LogicalCollective* use = nullptr;  // null: a copy to or from another memory
  Opcode kind{};  // the kind that determines the time: reduce-scatter for an all-reduce whose users keep a slice
  double bytes = 0;
  GroupTopology place;
  CollectiveTiming timing;  // also for a copy
  const Instruction* start = nullptr;
  bool starts_in_previous_iteration = false;  // in a loop: it depends on no value of the current iteration
  bool ends_after_loop = false;               // in a loop: its result is unused in the loop
};

struct DevicePlanOp {
  enum class Kind : uint8_t {
    kNoOp,        // tuples, parameters, bitcasts: values are only forwarded
    kKernel,
    kCollective,  // starts it and waits
    kStart,
    kDone,
    kReceive,     // waits for data from another device
    kLoop,
    kCall,
    kConditional,
  };
  Kind kind = Kind::kNoOp;
  const Instruction* hlo = nullptr;
  KernelDescriptor kernel;                 // also for a start or done whose TPU fusion computes meanwhile
  std::vector<const Instruction*> inputs;  // the instructions that kernel.reads refers to
  PlannedAsync* async = nullptr;
};
using DevicePlanBlock = std::vector<DevicePlanOp>;

struct DevicePlan {
  bool is_estimated = false;  // the schedule is estimated by shoal
  std::map<const Computation*, DevicePlanBlock> blocks;
  std::deque<PlannedAsync> asyncs;
  std::vector<std::string> notes;
};

// Maps instructions of the transformed module to those of the original module.
using Origins = absl::flat_hash_map<const Instruction*, const Instruction*>;

struct DevicePlanInput {
  const Module& module;
  const ExecutionCounts& executions;
  const ModuleCollectives& collectives;
  const Machine& machine;
  const DeviceClasses& classes;
  int64_t devices = 1;
  double scale_out = 1;              // ratio of the machine's devices to those that the module names
  const Origins* origins = nullptr;  // for a transformed module: maps to the original instructions
};

DevicePlan BuildDevicePlan(const DevicePlanInput& input);

// Used by both planners: adds the async operation of a collective to the plan, with its time.
PlannedAsync& AddCollective(const DevicePlanInput& input, const LogicalCollective& collective, Opcode kind,
                            DevicePlan& plan);
// The operation for an instruction other than a collective.
DevicePlanOp PlanInstruction(const Instruction& hlo, const DevicePlanInput& input);
// Computations that run on their own, callers first. Excludes fused computations and functions of ops.
std::vector<const Computation*> RunningComputations(const DevicePlanInput& input);

}  // namespace shoal::internal
