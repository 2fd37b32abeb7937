// What every verb does with a file: read it, say what is wrong with it, and answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/commands/output.h"
#include "core/base/diags.h"
#include "core/ir/module.h"
#include "formats/text/parser.h"

namespace shoal::internal {

// Flags that every verb has.
struct CommonFlags {
  bool strict = false;
  bool verbose = false;
  bool json = false;
  bool warnings = false;
};

// A file that was read: the module, or what is wrong with it. `source` is null if there was nothing to read.
struct Input {
  std::string path;
  std::unique_ptr<Source> source;  // moved into the module if there is one
  std::unique_ptr<Module> module;
  Diags diags;
  // What a snapshot says the program was given and what it gave; the module owns them.
  std::vector<const Literal*> arguments;
  const Literal* result = nullptr;

  const Source* text() const { return module != nullptr ? module->source.get() : source.get(); }
};

// Reads text, a protobuf or either of them packed with gzip; the content decides.
Input ReadInput(const std::string& path, const ParseOptions& options);

// Everything that was found, to standard error, with colour on a terminal.
void Report(const Input& input, const CommonFlags& flags);
// Errors alone in full; of warnings their number, unless --warnings asks for them. Nothing with --json.
void PrintWarnings(const Input& input, const CommonFlags& flags);

// The verb cannot go on: what is wrong, for people or as JSON; the exit status.
int FailOnInput(const Input& input, const CommonFlags& flags);
// Because of this, whatever was found before.
int FailOnInput(const Input& input, const Diag& diag, const CommonFlags& flags);
int FailOnUsage(const std::string& sentence, const CommonFlags& flags);

// What must be known before the answer: that the end of the file is missing.
void PrintTruncationWarning(const Input& input, const CommonFlags& flags);
// The answer to standard output, then what PrintWarnings says; the exit status.
int Finish(const Input& input, std::string_view answer, const CommonFlags& flags);

}  // namespace shoal::internal
