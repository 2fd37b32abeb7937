// Modules, errors and output: shared by all commands.
#pragma once

#include "cli/commands/output.h"
#include "shoal/facts.h"

namespace shoal::cli {

// Flags of every command.
struct CommonFlags {
  bool strict = false;
  bool verbose = false;
  bool json = false;
  bool warnings = false;
};

// Sets the packages of --own_packages, separated by commas, for every module that is read.
void SetOwnPackages(std::string_view names);
const std::vector<std::string>& OwnPackages();

// shoal::Read, as the activity that Ctrl-C reports.
Result<Module> ReadModule(const std::string& path, ReadOptions options);

// The facts of the file. Their module has the warnings of the reader.
Result<Facts> ReadFacts(const std::string& path, const CommonFlags& flags, const FactOptions& options);

// Prints the number of warnings; with --warnings, the warnings themselves; with --json, nothing.
void PrintWarnings(const Module& module, const CommonFlags& flags);

// Prints the error, as text or JSON, and returns the exit status.
int Fail(const Error& error, const CommonFlags& flags);
// The same for a usage error.
int FailOnUsage(const std::string& sentence, const CommonFlags& flags);

// Warns, before the output, that the file is truncated.
void PrintTruncationWarning(const Module& module, const CommonFlags& flags);
// Prints the truncation warning, `output` to standard output, and the warnings. Returns the exit status.
int Finish(const Module& module, std::string_view output, const CommonFlags& flags);

// The text of a result, or its JSON.
inline std::string TextOf(const View& view, const CommonFlags& flags) {
  return flags.json ? view.ToJson() : view.ToText(OutputStyle());
}

}  // namespace shoal::cli
