// The Model Context Protocol server: lifecycle, tools and resources.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

struct McpOptions {
  std::vector<std::string> roots;  // folders whose files may be read
  bool allow_write = false;
  int64_t budget = 0;  // tokens of an answer; 0: the default
};

// Serves one client until it closes the input. Fails if a root does not exist.
Result<int> ServeAgents(int in, int out, const McpOptions& options);

}  // namespace shoal::internal
