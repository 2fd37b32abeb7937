// The location in the user's program from which an instruction originates, as one line of text.
#pragma once

#include <string>

#include "core/ir/metadata.h"

namespace shoal::internal {

// "model.py:12", from the metadata or the stack frame that the metadata names; empty if neither has a location.
std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames);

}  // namespace shoal::internal
