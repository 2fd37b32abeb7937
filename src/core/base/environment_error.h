// Errors of the environment rather than of the input: a missing file, a full disk, no memory, an invalid option.
#pragma once

#include "core/base/result.h"

namespace shoal::internal {

// The rule id of an environment error; messages do not show it.
inline constexpr std::string_view kEnvironmentRule = "world";

inline Diag EnvironmentError(std::string message, Site site = Site::Here()) {
  return Fail({}, kEnvironmentRule, std::move(message), site);
}

// Not enough memory for an instruction's result: the only environment error with a location in the module.
inline constexpr std::string_view kMemoryRule = "run.memory";

inline bool IsEnvironmentError(const Diag& diag) { return diag.rule == kEnvironmentRule || diag.rule == kMemoryRule; }

}  // namespace shoal::internal
