// shoal run: executes a module on all its devices.
#pragma once

#include "cli/commands/run_flags.h"

namespace shoal::cli {

struct RunFlags {
  CommonFlags common;
  JobFlags job;
  InputFlags inputs;
  std::string file, outputs, dump, dump_dir = "dump";
  std::optional<int64_t> num_replicas, num_partitions;
  EngineFlags engine;
  std::string numerics;
  std::string profile;  // "-": print a table; else the trace file
  int64_t num_repeats = 1;
  bool explain = false;
  RunLimits limits;
  bool print_literals = false, check_nans = false, stub_custom_calls = false, fill_elided = true,
       check_snapshot = false;
};

// Returns the exit status.
int RunCommand(const RunFlags& flags);

}  // namespace shoal::cli
