// shoal run: executes a module on all its devices.
#pragma once

#include "cli/commands/engine_flags.h"
#include "cli/commands/run_input.h"
#include "cli/commands/job.h"
#include "cli/commands/run_limits.h"

namespace shoal::internal {

struct RunFlags {
  CommonFlags common;
  JobFlags job;
  std::string file, inputs, outputs, argument_mode = "use_random_inputs", dump, dump_dir = "dump";
  std::vector<std::string> fixed_inputs;  // NAME=VALUE
  std::optional<int64_t> num_replicas, num_partitions;
  uint64_t random_seed = 0;
  EngineFlags engine;
  std::string numerics, shardings_from;
  std::string profile;  // "-": print a table; else the trace file
  int64_t num_repeats = 1;
  bool explain = false;
  RunLimits limits;
  bool print_literals = false, check_nans = false, stub_custom_calls = false, fill_elided = true,
       check_snapshot = false;
};

// Returns the exit status.
int RunCommand(const RunFlags& flags);

}  // namespace shoal::internal
