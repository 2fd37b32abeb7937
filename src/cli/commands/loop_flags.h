// Flags about loops and branches that several verbs share.
#pragma once

#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

struct LoopFlags {
  std::vector<std::string> trips, probabilities;  // NAME=N, NAME=P
  // What is wrong with one of them; nothing if it is right.
  static std::string ValidateTripCount(const std::string& text);
  static std::string ValidateProbability(const std::string& text);
  // A name that none of the modules has is a mistake, which names those that there are.
  Result<ExecutionOptions> For(std::initializer_list<const Module*> modules) const;
};

}  // namespace shoal::internal
