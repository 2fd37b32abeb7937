// Diagnostics with repeated warnings merged into one.
#pragma once

#include <vector>

#include "core/base/diags.h"

namespace shoal::internal {

struct CountedDiag {
  const Diag* diag = nullptr;  // the first occurrence
  int times = 1;               // number of identical diagnostics
};

std::vector<CountedDiag> Deduplicated(const Diags& diags);

}  // namespace shoal::internal
