// The location in the user's program from which an instruction originates, as one line of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/metadata.h"

namespace shoal::internal {

struct SourceFrame {
  std::string_view file, function;
  int32_t line = 0, column = 0;
};
// The stack of the frame with this id, innermost frame first.
std::vector<SourceFrame> StackOf(const StackFrames& frames, int32_t id);

// True if a file belongs to an installed package or to Python itself: the line of a Linear layer in torch/nn.
bool IsInstalledFile(std::string_view file);

// "model.py:12": of the stack that the metadata names, the innermost frame outside of installed packages; else the
// location in the metadata. Empty if there is none. A path into an installed package begins after site-packages/.
std::string FormatSourceLocation(const Metadata& metadata, const StackFrames& frames);

}  // namespace shoal::internal
