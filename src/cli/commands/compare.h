// shoal compare: runs two modules on the same inputs and reports how far their results differ.
#pragma once

#include "cli/commands/engine_flags.h"
#include "cli/commands/run_input.h"
#include "cli/commands/job.h"
#include "cli/commands/run_limits.h"
#include "execute/data/compare.h"

namespace shoal::internal {

struct CompareFlags {
  CommonFlags common;
  JobFlags job;
  std::string a, b, shardings_from, inputs, argument_mode = "use_random_inputs";
  std::vector<std::string> fixed_inputs;  // NAME=VALUE
  std::optional<int64_t> num_replicas, num_partitions;
  uint64_t random_seed = 0;
  ErrorBounds bounds;
  RunLimits limits;
  bool stub_custom_calls = false;
  EngineFlags engine;
};

// Returns the exit status.
int CompareCommand(const CompareFlags& flags);

}  // namespace shoal::internal
