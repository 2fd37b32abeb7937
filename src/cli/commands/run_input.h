// Input files and diagnostics of the commands that run modules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/commands/input.h"
#include "core/base/diags.h"
#include "formats/files/module_file.h"
#include "present/reports/text_style.h"

namespace shoal::internal {

using namespace cli;

using Input = ModuleFile;

// ReadModuleFile, as the activity that Ctrl-C reports.
Input ReadInput(const std::string& path, const ParseOptions& options);

// Prints all diagnostics to standard error, with colour on a terminal.
void PrintDiags(const Input& input, const CommonFlags& flags);
// Prints the number of warnings; with --warnings, the warnings themselves; with --json, nothing.
void PrintWarnings(const Input& input, const CommonFlags& flags);

// Prints the errors of the input, as text or JSON, and returns the exit status.
int FailOnInput(const Input& input, const CommonFlags& flags);
// Prints only this error.
int FailOnInput(const Input& input, const Diag& diag, const CommonFlags& flags);

// The layout of text on this file descriptor.

inline TextStyle Internal(const shoal::TextStyle& style) { return {style.width, style.color}; }

}  // namespace shoal::internal
