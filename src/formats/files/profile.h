// Reads profiles as a Trace: JAX profiles (.xplane.pb or Chrome trace .json.gz) and profiles of shoal runs.
#pragma once

#include "core/base/result.h"
#include "core/ir/trace.h"

namespace shoal::internal {

// Reads the kernels of the first device. Events are named after their instruction if known, else after their kernel.
Result<Trace> ReadProfile(const std::string& path);

// Read one of the two formats; errors name `path`.
Result<Trace> ReadChromeTrace(std::string_view text, const std::string& path);
Result<Trace> ReadXplane(std::string_view bytes, const std::string& path);

}  // namespace shoal::internal
