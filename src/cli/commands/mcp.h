// shoal mcp: serves an agent.
#pragma once

#include "cli/commands/input.h"

namespace shoal::cli {

struct McpFlags {
  std::vector<std::string> roots;
  bool allow_write = false;
  int64_t budget = 0;
  CommonFlags common;
};

// Returns the exit status.
int McpCommand(const McpFlags& flags);

}  // namespace shoal::cli
