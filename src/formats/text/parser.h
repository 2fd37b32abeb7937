// Reads HLO text into a Module.
#pragma once

#include <memory>

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Rule id of the warning that the text is truncated.
inline constexpr std::string_view kTruncatedRule = "loose.cut-short";

struct ParseOptions {
  // Report each deviation from XLA's grammar as an error, not a warning.
  bool strict = false;
  // If strict, accept exactly the text that XLA's parser accepts. This excludes some text that XLA itself prints: the
  // newest GPU dumps write async-wrapped collectives as "all-reduce-start" with a shape and attributes of async-start,
  // and XLA's parser reads them as its older ops of that name. If false, they are read as async-wrapped collectives.
  bool xla_compatible = false;
  // If strict, read on after a deviation as if not strict, to report all of them. ParseModule then returns a module even
  // if there are errors, unless the text makes no sense after them.
  bool collects_deviations = false;
};

// Collects errors and warnings in `diags`, continuing after errors where possible. Returns null if there were errors.
std::unique_ptr<Module> ParseModule(std::unique_ptr<Source>& source, const ParseOptions& options, Diags& diags);

}  // namespace shoal::internal
