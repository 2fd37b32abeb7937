// Where in the user's program an instruction comes from, in one line.
#pragma once

#include <string>

#include "core/ir/metadata.h"

namespace shoal::internal {

// "model.py:12", from the metadata or from the stack frame it names; empty if neither knows.
std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames);

}  // namespace shoal::internal
