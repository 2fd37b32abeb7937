// Runs a module on all its devices.
#pragma once

#include <tuple>

#include "execute/interp/device.h"

namespace shoal::internal {

// The order of the text, so that reports do not depend on addresses.
struct TextOrder {
  bool operator()(const Instruction* a, const Instruction* b) const {
    return std::tie(a->at.offset, a->name, a) < std::tie(b->at.offset, b->name, b);
  }
};
using InstructionSet = std::set<const Instruction*, TextOrder>;

struct RunStats {
  double seconds = 0;
  int64_t instructions = 0;  // evaluated instructions, on all devices
  int64_t iterations = 0;    // iterations of while loops, on all devices
  // For each device, peak bytes of its arrays, measured at the end of instructions while the operands are still live.
  std::vector<int64_t> peak_bytes;
  std::vector<std::map<Opcode, Traffic>> traffic;               // traffic of each device's collectives, by op
  Stubs stubs;                                                  // on all devices
  InstructionSet endless_loops, padded_gathers;                 // on all devices
  // Seconds in each step for which the engine has no code, summed over the devices of this process.
  std::map<const Instruction*, double, TextOrder> fallback_seconds;
  std::map<const Instruction*, Device::LoopRuns, TextOrder> loops;         // on all devices
  std::map<const Instruction*, std::vector<int64_t>, TextOrder> branches;  // executions of each branch, on all devices
};

struct RunOutcome {
  // One per device; empty for devices in other processes. The results own or share all memory that they refer to.
  std::vector<Value> results;
  RunStats stats;  // on the first process of a job: of all devices; else of the local ones
};

// The rule of the error of a run that RunSettings::cancel stopped.
inline constexpr std::string_view kRunCancelled = "run.cancelled";

// Runs the entry computation with arguments[device][parameter], each device on its own thread. The first error on any
// device stops all devices and is returned. Several threads may run a plan at a time.
Result<RunOutcome> RunPlan(const ModulePlan& plan, const DeviceGrid& grid, std::vector<std::vector<Value>> arguments,
                           RunSettings settings);

// The result of a module without parameters on one device. The module must outlive it.
Result<Value> EvaluateConstantModule(const Module& module);

}  // namespace shoal::internal
