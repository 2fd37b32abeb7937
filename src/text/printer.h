// Writes a Module as HLO text: by default byte for byte what XLA prints.
#pragma once

#include <string>

#include "ir/module.h"

namespace shoal {

struct PrintOptions {
  bool elide_large_constants = false;  // {...} for more than 10 elements, as XLA's own default
  // The short form leaves these out.
  bool percent = true;         // % before names
  bool signatures = true;      // (p: f32[2]) -> f32[2]
  bool metadata = true;        // and the stack frame tables
  bool index_comments = true;  // /*index=5*/ among operands

  static PrintOptions Short() { return {false, false, false, false, false}; }
};

std::string PrintModule(const Module& module, const PrintOptions& options = {});

}  // namespace shoal
