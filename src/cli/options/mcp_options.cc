// Options of shoal mcp.
#include "cli/options/commands.h"
#include "cli/commands/mcp.h"

namespace shoal::cli {

Action AddMcp(Options& command) {
  auto flags = std::make_shared<McpFlags>();
  command.Repeated("--root", flags->roots, "A folder whose files the agent may read; repeatable (default: the current one)");
  command.Flag("--allow_write", flags->allow_write, "Allow the tool that writes report pages, inside the roots");
  command.Value("--budget", flags->budget, "Size of an answer in tokens (default: 2000)").NotNegative();
  command.Footer(
      "An agent starts this command and talks to it over standard input and output. docs/agents.md shows how to configure\n"
      "clients and lists the tools.\n\n"
      "Examples:\n"
      "  claude mcp add shoal -- shoal mcp --root /path/to/dumps\n"
      "  shoal mcp --root dumps --root models --allow_write");
  return [=] { return McpCommand(*flags); };
}

}  // namespace shoal::cli
