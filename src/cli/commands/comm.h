// shoal comm: prints the ledger of collectives.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/loop_flags.h"

namespace shoal::cli {

struct CommFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file, matrix, sort = "order";
  std::optional<int64_t> num_replicas, num_partitions;
  int64_t devices_per_node = 8, top = 20;
};

// Returns the exit status.
int CommCommand(const CommFlags& flags);

}  // namespace shoal::cli
