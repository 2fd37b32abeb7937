// Compares a prediction with a profile: attributes profile events to instructions.
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
  double steps = 1;                        // number of steps in the profile
  double predicted = 0, measured = 0;      // seconds of ops per step
  double unmatched = 0;                    // measured seconds of events not matched to an instruction
  std::vector<MeasuredOp> ops;             // by decreasing prediction error
  std::vector<const Instruction*> owners;  // the instruction of each event; null: not matched
};

// The kernel name of an instruction: fusion_84 for fusion.84.
std::string KernelName(std::string_view name);

// Matches events by name. Library kernels are attributed to the library calls between their neighbours in the schedule.
ProfileComparison CompareWith(const SimulatedStep& prediction, const Trace& profile);

}  // namespace shoal::internal
