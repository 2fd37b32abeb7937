// shoal print: canonical text, or another form.
#pragma once

#include "cli/commands/input.h"

namespace shoal::internal {

struct PrintFlags {
  CommonFlags common;
  std::string file, format = "hlo", output;
  bool elide_large_constants = false;
};

// The exit status.
int PrintVerb(const PrintFlags& flags);

}  // namespace shoal::internal
