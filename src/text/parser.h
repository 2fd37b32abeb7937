// Reads HLO text into a Module.
#pragma once

#include <memory>

#include "base/diags.h"
#include "ir/module.h"

namespace shoal {

struct ParseOptions {
  // Accept exactly what XLA's parser accepts. Otherwise each liberty a text takes is a warning with its place.
  bool strict = false;
};

// Collects errors and warnings in `diags` and goes on as far as it makes sense. Null if there were errors.
std::unique_ptr<Module> ParseModule(std::unique_ptr<Source>& source, const ParseOptions& options, Diags& diags);

}  // namespace shoal
