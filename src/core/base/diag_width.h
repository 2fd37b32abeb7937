// Renders messages for a terminal of a given width. Separate from diags.h, which parsers and verifiers include.
#pragma once

#include "core/base/diags.h"

namespace shoal::internal {

// Like Render in diags.h, with source lines shortened to `width` columns; 0 means 123 columns.
std::string Render(const Diags& diags, const Source& source, const DiagStyle& style, size_t width);

}  // namespace shoal::internal
