// The location in the user's program from which an instruction originates, as one line of text.
#pragma once

#include <string>
#include <string_view>

#include "core/ir/metadata.h"

namespace shoal::internal {

// True if a file belongs to an installed package or to Python itself: the line of a Linear layer in torch/nn.
bool IsInstalledFile(std::string_view file);

// "model.py:12": of the stack that the metadata names, the innermost frame outside of installed packages; else the
// location in the metadata. Empty if there is none. A path into an installed package begins after site-packages/.
std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames);

}  // namespace shoal::internal
