// The language server: lifecycle, settings, document synchronization, and the dispatch of requests to features.h.
#pragma once

namespace shoal::internal {

// Serves one client until it exits or closes the input. Returns 0 after an orderly shutdown, else 1.
int ServeLanguage(int in, int out);

}  // namespace shoal::internal
