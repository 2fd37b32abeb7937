// What was found, the same warning once.
#pragma once

#include <vector>

#include "core/base/diags.h"

namespace shoal::internal {

struct CountedDiag {
  const Diag* diag = nullptr;  // the first
  int times = 1;               // the same was said
};

std::vector<CountedDiag> Deduplicated(const Diags& diags);

}  // namespace shoal::internal
