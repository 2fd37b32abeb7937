// What a device does, computation by computation, in order: kernels, collectives, waits, loops. Of a scheduled module
// that is its own order; of another one, ours (our_schedule.h).
#pragma once

#include <deque>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/collective_time.h"
#include "analyze/cost/kernel_descriptor.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/device_class.h"

namespace shoal::internal {

// Something that goes on beside the kernels.
struct PlannedAsync {
  const LogicalCollective* use = nullptr;  // null: a copy to or from another memory
  Opcode kind{};                       // what it is priced as: reduce-scatter for an all-reduce of which a slice is kept
  double bytes = 0;
  GroupTopology place;
  CollectiveTiming timing;  // of a copy too
  const Instruction* start = nullptr;
  bool from_last_round = false;  // in a loop: needs nothing of this round, and begins in the one before
  bool until_loop_end = false;   // nobody in the loop needs its result
  int combined = 0;              // so many others ride along; their own price is nothing
};

struct DevicePlanOp {
  enum class Kind : uint8_t {
    kNoOp,     // tuples, parameters, bitcasts: values get other names
    kKernel,
    kCollective,   // and wait for it
    kStart,
    kDone,
    kReceive,      // wait for what another device sends
    kLoop,
    kCall,
    kConditional,
  };
  Kind kind = Kind::kNoOp;
  const Instruction* hlo = nullptr;
  KernelDescriptor kernel;                           // of a start or done too, where a TPU's fusion computes meanwhile
  std::vector<const Instruction*> inputs;  // that kernel.reads are about
  PlannedAsync* async = nullptr;
};
using DevicePlanBlock = std::vector<DevicePlanOp>;

struct DevicePlan {
  bool ours = false;  // the schedule
  std::map<const Computation*, DevicePlanBlock> blocks;
  std::deque<PlannedAsync> asyncs;
  std::vector<std::string> notes;
};

// Which instruction of the module as it was written one of the rewritten module stands for.
using Origins = absl::flat_hash_map<const Instruction*, const Instruction*>;

struct DevicePlanInput {
  const Module& module;
  const ExecutionCounts& executions;
  const ModuleCollectives& collectives;
  const Machine& machine;
  const DeviceClasses& classes;
  int64_t devices = 1;
  double scale_out = 1;  // so many times the devices that the module names
  const Origins* origins = nullptr;  // of a module that was rewritten: whose instructions the user knows
};

DevicePlan BuildDevicePlan(const DevicePlanInput& input);

// What both planners share: an async of a collective, priced.
PlannedAsync& AddCollective(const DevicePlanInput& input, const LogicalCollective& use, Opcode kind, DevicePlan& plan);
// A step for an instruction that is no collective.
DevicePlanOp StepFor(const Instruction& hlo, const DevicePlanInput& input);
// The computations that run as they are, callers first: not what is fused or part of an op.
std::vector<const Computation*> RunningComputations(const DevicePlanInput& input);

}  // namespace shoal::internal
