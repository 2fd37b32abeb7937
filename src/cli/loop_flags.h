// Flags about loops and branches that several verbs share.
#pragma once

#include "analysis/executions.h"
#include "cli/options.h"

namespace shoal {

struct LoopFlags {
  std::vector<std::string> trips, probabilities;  // NAME=N, NAME=P
  void AddTo(Options& verb);
  // A name that none of the modules has is a mistake, which names those that there are.
  Result<ExecutionOptions> For(std::initializer_list<const Module*> modules) const;
};

}  // namespace shoal
