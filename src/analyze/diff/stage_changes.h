// Finds the changes that each step of a compilation made, by comparing consecutive dumped stages.
#pragma once

#include <map>
#include <string>

#include "analyze/diff/changes.h"

namespace shoal::internal {

struct StageChanges {
  std::string stage;                                            // name of the stage after the step
  int64_t instructions = 0;                                     // number of instructions after the step
  std::map<ChangeKind, std::map<std::string, int64_t>> counts;  // number of changes by kind and op

  bool none() const { return counts.empty(); }
};

StageChanges ChangesOfStage(const ModuleFacts& before, const ModuleFacts& after, std::string stage);

// Returns text such as "removed copy × 2; fused add × 2, dot".
std::string ToString(const StageChanges& changes);

}  // namespace shoal::internal
