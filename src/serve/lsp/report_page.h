// The report page of a document, for the command shoal.openPage.
#pragma once

#include <string>

#include "core/base/result.h"
#include "serve/lsp/view.h"

namespace shoal::internal {

// Writes the page to a temporary file and returns its URI, with the instruction `name` selected.
Result<std::string> WriteReportPage(const View& view, const std::string& name);

}  // namespace shoal::internal
