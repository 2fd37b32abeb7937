// Messages for a terminal of so many columns. Apart from diags.h, which readers and checkers include.
#pragma once

#include "core/base/diags.h"

namespace shoal::internal {

// As Render; no line of the source is shown wider. 0: 123 columns.
std::string Render(const Diags& diags, const Source& source, const DiagStyle& style, size_t width);

}  // namespace shoal::internal
