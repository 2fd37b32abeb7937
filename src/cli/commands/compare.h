// shoal compare: runs two modules on the same inputs and reports how far their results differ.
#pragma once

#include "cli/commands/run_flags.h"

namespace shoal::cli {

struct CompareFlags {
  CommonFlags common;
  JobFlags job;
  InputFlags inputs;
  std::string a, b;
  std::optional<int64_t> num_replicas, num_partitions;
  std::optional<double> abs_error_bound, rel_error_bound;
  RunLimits limits;
  bool stub_custom_calls = false;
  EngineFlags engine;
};

// Returns the exit status.
int CompareCommand(const CompareFlags& flags);

}  // namespace shoal::cli
