// Attributes the events of a profile to instructions, and compares the measured times with a prediction.
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
  double predicted = 0, measured = 0;      // seconds of all ops per step
  double unmatched = 0;                    // seconds per step of events not matched to an instruction
  double matched_share = 0;                // the part of the measured time that is matched
  double found_share = 0;                  // the part of the predicted time whose instructions have events
  std::vector<MeasuredOp> ops;             // sorted by decreasing prediction error
  std::vector<const Instruction*> owners;  // instruction of each event; null if not matched
};

// Returns the kernel name of an instruction, such as fusion_84 for fusion.84.
std::string KernelName(std::string_view name);

// The reason why the profile is probably that of another program. Empty if it fits.
std::string WhyProfileDiffers(const ProfileComparison& comparison);

// Matches events by name and launch order. If the steps of the profile cannot be told apart, attributes a library kernel
// to the library calls between its neighbours in the schedule.
ProfileComparison CompareWith(const SimulatedStep& prediction, const Trace& profile);

}  // namespace shoal::internal
