// The changes made by each step of a compilation, from the dumped stages.
#pragma once

#include <map>
#include <string>

#include "analyze/diff/changes.h"

namespace shoal::internal {

struct StageChanges {
  std::string stage;                                            // the stage after the step
  int64_t instructions = 0;                                     // number of instructions after the step
  std::map<ChangeKind, std::map<std::string, int64_t>> counts;  // by kind and op

  bool none() const { return counts.empty(); }
};

StageChanges ChangesOfStage(const Module& before, const Module& after, std::string stage);

// "removed copy × 2; fused add × 2, dot"
std::string ToString(const StageChanges& changes);

}  // namespace shoal::internal
