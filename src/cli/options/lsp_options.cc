// Options of shoal lsp.
#include "cli/options/commands.h"
#include "cli/commands/lsp.h"

namespace shoal::cli {

Action AddLsp(Options& command) {
  auto stdio = std::make_shared<bool>(false);
  command.Flag("--stdio", *stdio, "Use standard input and output, which is the only transport and the default");
  command.Footer(
      "An editor starts this command and talks to it. docs/editors.md shows the configuration for VS Code, Neovim, Vim\n"
      "and Emacs. Settings: machine (for predicted times), pathMap, ownPackages, inlayHints, codeLenses.\n\n"
      "Examples:\n"
      "  nvim --cmd 'lua vim.lsp.start({name = \"shoal\", cmd = {\"shoal\", \"lsp\"}})' module.hlo\n"
      "  shoal lsp < messages.txt");
  return [stdio] { return LspCommand(); };
}

}  // namespace shoal::cli
