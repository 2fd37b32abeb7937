// Failures that are no fault of the input: a missing file, a full disk, no memory, an option that makes no sense.
#pragma once

#include "core/base/result.h"

namespace shoal::internal {

// Their rule, which no message shows.
inline constexpr std::string_view kEnvironmentRule = "world";

inline Diag EnvironmentError(std::string message, Site site = Site::Here()) {
  return Fail({}, kEnvironmentRule, std::move(message), site);
}

// Where one has a place in the module: too little memory for what an instruction makes.
inline constexpr std::string_view kMemoryRule = "run.memory";

inline bool IsEnvironmentError(const Diag& diag) { return diag.rule == kEnvironmentRule || diag.rule == kMemoryRule; }

}  // namespace shoal::internal
