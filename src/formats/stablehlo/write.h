// Writes StableHLO text.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/ir/module.h"

namespace shoal::internal {

struct StablehloOptions {
  bool elide_large_constants = false;  // dense_resource<__elided__> for more than 10 elements
};
Result<std::string> WriteStablehlo(const Module& module, const StablehloOptions& options = {});

}  // namespace shoal::internal
