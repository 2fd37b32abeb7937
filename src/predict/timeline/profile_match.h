// A prediction beside a profile: which events belong to which instruction.
#pragma once

#include "core/ir/trace.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

struct MeasuredOp {
  const Instruction* hlo = nullptr;
  TimeKind kind = TimeKind::kMemory;
  double predicted = 0, measured = 0;  // seconds per step
};

struct ProfileComparison {
  double steps = 1;          // that the profile holds
  double predicted = 0, measured = 0;  // seconds per step, of ops
  double unmatched = 0;      // of them, of events that belong to no instruction
  std::vector<MeasuredOp> ops;  // those first that are furthest from what they should be
  std::vector<const Instruction*> owners;  // of each event of the profile; null: it belongs to none
};

// Kernels are called as their instructions, with other signs in the name: fusion_84 is fusion.84.
std::string KernelName(std::string_view name);

// By name; kernels of libraries, which have names of their own, go to the library calls that stand between the
// instructions before and after them in the schedule.
ProfileComparison CompareWith(const SimulatedStep& prediction, const Trace& profile);

}  // namespace shoal::internal
