// The ordered operations of a device in each computation: kernels, collectives, waits and loops. A scheduled module
// defines the order. For other modules, estimated_schedule.h estimates the order.
#pragma once

#include <deque>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/collective_time.h"
#include "analyze/cost/kernel_descriptor.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/device_class.h"
#include "analyze/summary/module_facts.h"

namespace shoal::internal {

// An async operation that runs concurrently with the kernels.
struct PlannedAsync {
  const LogicalCollective* use = nullptr;  // null for a copy to or from another memory
  Opcode kind{};  // the kind for timing, such as reduce-scatter for an all-reduce whose users keep only a slice
  double bytes = 0;
  GroupTopology place;
  CollectiveTiming timing;  // time of the collective or copy
  const Instruction* start = nullptr;
  bool starts_in_previous_iteration = false;  // true if no heavy op of the iteration precedes it
  bool ends_after_loop = false;               // true if no heavy op of the iteration needs its result
};

struct DevicePlanOp {
  enum class Kind : uint8_t {
    kNoOp,        // only forwards values: tuples, parameters, bitcasts
    kKernel,
    kCollective,  // starts a collective and waits for it
    kStart,
    kDone,
    kReceive,     // waits for data from another device
    kLoop,
    kCall,
    kConditional,
  };
  Kind kind = Kind::kNoOp;
  const Instruction* hlo = nullptr;
  KernelDescriptor kernel;                 // also set for a start or done that is a TPU fusion with other work
  std::vector<const Instruction*> inputs;  // the instructions that kernel.reads refers to
  PlannedAsync* async = nullptr;
};
using DevicePlanBlock = std::vector<DevicePlanOp>;

struct DevicePlan {
  const Computation* entry = nullptr;  // null if the module has none
  bool is_estimated = false;  // true if the module has no schedule, so that shoal estimates one
  std::map<const Computation*, DevicePlanBlock> blocks;
  std::deque<PlannedAsync> asyncs;
  std::vector<std::string> notes;
};

// Maps instructions of a transformed module to instructions of the original module.
using Origins = absl::flat_hash_map<const Instruction*, const Instruction*>;

struct DevicePlanInput {
  const ModuleFacts& facts;
  const Machine& machine;
  int64_t devices = 1;
  double scale_out = 1;              // ratio of the machine's device count to that of the module
  const Origins* origins = nullptr;  // set if the facts are those of a transformed module
};

DevicePlan BuildDevicePlan(const DevicePlanInput& input);

// Adds the async operation of a collective to the plan and computes its time. Both planners use this function.
PlannedAsync& AddCollective(const DevicePlanInput& input, const LogicalCollective& collective, Opcode kind,
                            DevicePlan& plan);
// Returns the operation for an instruction that is not a collective.
DevicePlanOp PlanInstruction(const Instruction& hlo, const DevicePlanInput& input);
// Returns the computations that are not part of an op, callers first. Excludes fused computations and reducers.
std::vector<const Computation*> RunningComputations(const DevicePlanInput& input);

}  // namespace shoal::internal
