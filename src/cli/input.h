// What every verb does with a file: read it, say what is wrong with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/diags.h"
#include "ir/module.h"
#include "text/parser.h"

namespace shoal {

// Exit statuses.
inline constexpr int kOk = 0;
inline constexpr int kInputAtFault = 1;
inline constexpr int kCallAtFault = 2;

// Flags that every verb has.
struct CommonFlags {
  bool strict = false;
  bool verbose = false;
  bool json = false;
  void AddTo(CLI::App& verb);
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

// Prints what was found to standard error, with colour on a terminal.
void Report(const Input& input, const CommonFlags& flags);
std::string DiagsAsJson(const Input& input);

// Writes to `path` ("" or "-": standard output); under a temporary name until it is complete.
Status WriteOutput(const std::string& path, std::string_view bytes);

}  // namespace shoal
