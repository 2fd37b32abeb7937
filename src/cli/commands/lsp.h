// shoal lsp: serves an editor.
#pragma once

namespace shoal::internal {

// Returns the exit status.
int LspCommand();

}  // namespace shoal::internal
