// The location in the user's program from which an instruction comes, with the calls that led to it.
#pragma once

#include <string>
#include <vector>

#include "core/ir/module.h"
#include "serve/lsp/view.h"

namespace shoal::internal {

struct SourceFrame {
  std::string file, function;
  int32_t line = 0, column = 0;
};

// Innermost frame first; empty if the metadata has no location.
std::vector<SourceFrame> SourceFramesOf(const Instruction& hlo, const Module& module);
// The path on this machine, by the longest prefix of settings.paths.
std::string LocalPath(const std::string& file, const LspSettings& settings);

}  // namespace shoal::internal
