// The location in the user's program that an instruction comes from, on one line.
#pragma once

#include <string>

#include "core/ir/metadata.h"

namespace shoal::internal {

// "model.py:12", from the metadata or from the stack frame it names; empty if neither has a location.
std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames);

}  // namespace shoal::internal
