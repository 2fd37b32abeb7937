// Generated inputs, with a progress line.
#pragma once

#include "execute/data/generate.h"

namespace shoal::internal {

// Parses NAME=VALUE. Fails if there is no such parameter.
Result<std::vector<FixedInput>> ParseFixedInputs(const Module& module, const std::vector<std::string>& texts);

// `mode` is one of ArgumentModeNames.
Arguments Generate(const Module& module, const DeviceGrid& grid, const std::string& mode, uint64_t seed,
                   const std::vector<FixedInput>& fixed, const Placement* placement = nullptr);

// One sentence for each kind of input whose values depend on its use.
std::vector<std::string> GeneratedInputNotes(const Module& module, const std::string& mode);

// Bytes of one device's results, saturating.
int64_t ResultBytes(const Module& module);

}  // namespace shoal::internal
