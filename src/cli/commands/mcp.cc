#include "cli/commands/mcp.h"

#include <unistd.h>

#include "cli/commands/interrupt.h"
#include "serve/mcp/mcp_server.h"

namespace shoal::cli {

int McpCommand(const McpFlags& flags) {
  SetActivity("serving an agent");
  internal::McpOptions options{flags.roots, flags.allow_write, flags.budget};
  if (options.roots.empty()) options.roots.push_back(".");
  const internal::Result<int> served = internal::ServeAgents(STDIN_FILENO, STDOUT_FILENO, options);
  return served.ok() ? *served : FailOnUsage(served.diag().message, flags.common);
}

}  // namespace shoal::cli
