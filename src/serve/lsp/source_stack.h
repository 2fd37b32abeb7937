// The location in the user's program from which an instruction comes, with the calls that led to it.
#pragma once

#include <string>
#include <vector>

#include "core/ir/module.h"
#include "core/ir/source_location.h"
#include "serve/lsp/view.h"

namespace shoal::internal {

// The stack of the instruction, else of its forward op, innermost frame first.
std::vector<SourceFrame> SourceFramesOf(const View& view, const Instruction& hlo);
// The path on this machine, by the longest prefix of settings.paths.
std::string LocalPath(std::string_view file, const LspSettings& settings);

}  // namespace shoal::internal
