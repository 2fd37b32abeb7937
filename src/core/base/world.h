// Failures that are no fault of the input: a missing file, a full disk, no memory, an option that makes no sense.
#pragma once

#include "core/base/result.h"

namespace shoal {

// Their rule, which no message shows.
inline constexpr std::string_view kWorldRule = "world";

inline Diag WorldFailed(std::string message, Site site = Site::Here()) {
  return Fail({}, kWorldRule, std::move(message), site);
}

// Where one has a place in the module: too little memory for what an instruction makes.
inline constexpr std::string_view kMemoryRule = "run.memory";

inline bool IsOfTheWorld(const Diag& diag) { return diag.rule == kWorldRule || diag.rule == kMemoryRule; }

}  // namespace shoal
