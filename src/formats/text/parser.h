// Reads HLO text into a Module.
#pragma once

#include <memory>

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Of the warning that a text ends too early.
inline constexpr std::string_view kCutShortRule = "loose.cut-short";

struct ParseOptions {
  // Each liberty a text takes is an error, not a warning.
  bool strict = false;
  // With strict: accept exactly what XLA's parser accepts. That leaves out some of what XLA itself prints: the newest
  // GPU dumps write async-wrapped collectives as "all-reduce-start" with a shape and attributes of async-start, and
  // XLA takes those for its older ops of that name. Otherwise they are read as what they are.
  bool xla_compatible = false;
};

// Collects errors and warnings in `diags` and goes on as far as it makes sense. Null if there were errors.
std::unique_ptr<Module> ParseModule(std::unique_ptr<Source>& source, const ParseOptions& options, Diags& diags);

}  // namespace shoal::internal
