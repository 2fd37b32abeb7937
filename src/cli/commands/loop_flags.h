// Flags about loops and branches, shared by several commands.
#pragma once

#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

struct LoopFlags {
  std::vector<std::string> trips, probabilities;  // NAME=N, NAME=P
  // Both return an error message, or an empty string if the text is valid.
  static std::string ValidateTripCount(const std::string& text);
  static std::string ValidateProbability(const std::string& text);
  // Fails if a name occurs in none of the modules; the error lists the known names.
  Result<ExecutionOptions> ExecutionOptionsFor(std::initializer_list<const Module*> modules) const;
};

}  // namespace shoal::internal
