#include "cli/commands/lsp.h"

#include <unistd.h>

#include "cli/commands/interrupt.h"
#include "serve/lsp/lsp_server.h"

namespace shoal::cli {

int LspCommand() {
  SetActivity("serving an editor");
  return internal::ServeLanguage(STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace shoal::cli
