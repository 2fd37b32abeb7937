// Passes: rewrites of a module.
#pragma once

#include <functional>

#include "shoal/module.h"

namespace shoal::inline v0_1 {

struct PassInfo {
  std::string_view name;
  std::string_view reason;        // for its position in the pipeline
  bool is_communication = false;  // optimizes collectives; not part of the compiler's own pipeline
};
// The passes in the order in which they run: first the compiler's, then those for collectives.
SHOAL_API std::vector<PassInfo> Passes();

struct TransformOptions {
  std::vector<std::string> disabled = {};
  bool verify = true;  // after each pass that changed the module
  // Called after each pass.
  std::function<void(const PassInfo& pass, bool changed, double seconds)> after = {};
};
// A copy of the module after these passes; without names, after the compiler's own pipeline.
SHOAL_API Result<Module> Transform(const Module& module, const std::vector<std::string>& passes = {},
                                   const TransformOptions& options = {});

}  // namespace shoal::inline v0_1
