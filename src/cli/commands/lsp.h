// shoal lsp: serves an editor.
#pragma once

namespace shoal::cli {

// Returns the exit status.
int LspCommand();

}  // namespace shoal::cli
