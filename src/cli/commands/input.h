// Input files, diagnostics and output: shared by all commands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/commands/output.h"
#include "core/base/diags.h"
#include "formats/files/module_file.h"

namespace shoal::internal {

// Flags of every command.
struct CommonFlags {
  bool strict = false;
  bool verbose = false;
  bool json = false;
  bool warnings = false;
};

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
// Prints a usage error.
int FailOnUsage(const std::string& sentence, const CommonFlags& flags);

// Warns, before the output, that the file is truncated.
void PrintTruncationWarning(const Input& input, const CommonFlags& flags);
// Prints the truncation warning, `output` to standard output, and the warnings. Returns the exit status.
int Finish(const Input& input, std::string_view output, const CommonFlags& flags);

}  // namespace shoal::internal
