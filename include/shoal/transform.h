// Passes: rewrites of a module.
#pragma once

#include <functional>

#include "shoal/module.h"

namespace shoal::inline v0_1 {

enum class PassGroup : uint8_t {
  kCompiler,       // shoal's own pipeline
  kCommunication,  // optimizes collectives, as in XLA's GPU pipeline
  kUndoCpu,        // reverses rewrites of XLA:CPU
};
struct PassInfo {
  std::string_view name;
  std::string_view reason;  // for its position in the pipeline
  PassGroup group = PassGroup::kCompiler;
};
// The passes of all groups, each group in the order in which its passes run.
SHOAL_API std::vector<PassInfo> Passes();
// The names of the passes that optimize the collectives of this module. Those that reverse the rewrites of XLA:CPU come
// first if it compiled the module.
SHOAL_API std::vector<std::string> CommunicationPasses(const Module& module);

struct PassOutcome {
  PassInfo pass = {};
  bool changed = false;
  double seconds = 0;
  const Module& module;  // after the pass; do not keep it
};

struct TransformOptions {
  std::vector<std::string> disabled = {};
  bool verify = true;  // after each pass that changed the module
  // Called after each pass.
  std::function<void(const PassOutcome& outcome)> after = {};
};
// A copy of the module after these passes; without names, after the compiler's own pipeline.
SHOAL_API Result<Module> Transform(const Module& module, const std::vector<std::string>& passes = {},
                                   const TransformOptions& options = {});

}  // namespace shoal::inline v0_1
