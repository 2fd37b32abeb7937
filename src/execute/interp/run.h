// Runs a module on all its devices.
#pragma once

#include "execute/interp/device.h"

namespace shoal::internal {

struct RunStats {
  double seconds = 0;
  int64_t instructions = 0;  // evaluated, on all devices together
  int64_t iterations = 0;    // of while loops, likewise
  // Of each device's arrays, at the end of an instruction, whose operands are still there.
  std::vector<int64_t> peak_bytes;
  std::vector<std::map<Opcode, Traffic>> traffic;               // of each device's collectives, by op
  Stubs stubs;                                                  // of all devices together
  std::set<const Instruction*> endless_loops;                   // likewise
  std::set<const Instruction*> padded_gathers;                  // likewise
  std::map<const Instruction*, Device::LoopRuns> loops;         // likewise
  std::map<const Instruction*, std::vector<int64_t>> branches;  // how often each was taken, likewise
};

struct RunOutcome {
  std::vector<std::unique_ptr<MemoryMeter>> meters;  // of each device; they outlive the results
  std::vector<Value> results;                        // of each device; nothing of those in other processes
  RunStats stats;  // of all devices, in the first process of a job; elsewhere of its own
};

// What a progress line is made of. Called about every 100 ms from the calling thread while the devices run.
using Watch = std::function<void(std::span<const std::unique_ptr<Device>> devices)>;

// Runs the entry computation with arguments[device][parameter], each device in a thread of its own. The module was
// verified. The first failure of any device stops them all and is returned.
Result<RunOutcome> RunModule(const ModulePlan& plans, const DeviceGrid& grid, std::vector<std::vector<Value>> arguments,
                             const RunSettings& settings, const Watch& watch = {});

// The result of a module without parameters on one device, in memory that is charged to no device.
Result<Value> EvaluateConstantModule(const Module& module);

}  // namespace shoal::internal
