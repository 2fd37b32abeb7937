// What was found, the same warning once.
#pragma once

#include <vector>

#include "core/base/diags.h"

namespace shoal {

struct CountedDiag {
  const Diag* diag = nullptr;  // the first
  int times = 1;               // the same was said
};

std::vector<CountedDiag> WithoutRepeats(const Diags& diags);

}  // namespace shoal
