// Flags about loops and branches that several verbs share.
#pragma once

#include "CLI/CLI.hpp"
#include "analysis/executions.h"

namespace shoal {

struct LoopFlags {
  std::vector<std::string> trips, probabilities;  // NAME=N, NAME=P
  void AddTo(CLI::App& verb);
  ExecutionOptions Options() const;
};

}  // namespace shoal
