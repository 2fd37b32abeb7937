// The location in the user's program from which an instruction originates, as one line of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct SourceFrame {
  std::string_view file, function;
  int32_t line = 0, column = 0;
};
// The stack of the frame with this id, innermost frame first.
std::vector<SourceFrame> StackOf(const StackFrames& frames, int32_t id);
// The stack of an instruction, innermost frame first. Without a stack, the location in its metadata, if it has one.
std::vector<SourceFrame> StackOf(const Instruction& hlo, const Module& module);

// True if a file belongs to an installed package or to Python itself, such as torch/nn/modules/linear.py. False for the
// packages in `own_packages`: "mymodels" stands for …/site-packages/mymodels/ and …/site-packages/mymodels.py.
bool IsInstalledFile(std::string_view file, std::span<const std::string> own_packages = {});

// "model.py:12". A path into an installed package begins after site-packages/.
std::string FormatFrame(const SourceFrame& frame);
// "model.py:12 in layer"
std::string FormatCall(const SourceFrame& frame);

// "model.py:12": the innermost frame of the stack outside of installed packages, else the location in the metadata. Empty
// if there is none.
std::string SourceLocationOf(const Instruction& hlo, const Module& module, std::span<const std::string> own_packages = {});

}  // namespace shoal::internal
