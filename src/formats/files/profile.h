// Profiles that others made, as a Trace: JAX's profiler (.xplane.pb, or the Chrome trace .json.gz), and our own runs.
#pragma once

#include "core/base/result.h"
#include "core/ir/trace.h"

namespace shoal::internal {

// The kernels of the first device. An event's name is the instruction's where the profile says it, else the kernel's.
Result<Trace> ReadProfile(const std::string& path);

// The two forms; `path` stands in messages.
Result<Trace> ReadChromeTrace(std::string_view text, const std::string& path);
Result<Trace> ReadXplane(std::string_view bytes, const std::string& path);

}  // namespace shoal::internal
