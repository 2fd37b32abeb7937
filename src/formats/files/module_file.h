// Reads a module in any format, and writes one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/diags.h"
#include "core/ir/module.h"
#include "formats/text/parser.h"

namespace shoal::internal {

// An input file: its module, or the errors. `source` is null if the file could not be read.
struct ModuleFile {
  std::string path;
  std::unique_ptr<Source> source;  // null once the module owns it
  std::shared_ptr<Module> module;
  Diags diags;
  // Arguments and result recorded in a snapshot; owned by the module.
  std::vector<const Literal*> arguments;
  const Literal* result = nullptr;

  const Source* text() const { return module != nullptr ? module->source.get() : source.get(); }
};

// Reads HLO text, StableHLO or a protobuf, optionally gzipped; the format is detected from the content. "-" is standard
// input.
ModuleFile ReadModuleFile(const std::string& path, const ParseOptions& options);
// The same for text or bytes in memory. Messages call them `source->name()`.
ModuleFile ReadModuleSource(std::unique_ptr<Source> source, const ParseOptions& options);

enum class ModuleFormat : uint8_t {
  kHlo,        // as XLA prints it
  kShort,      // without %, signatures and metadata
  kProto,      // HloModuleProto
  kProtoJson,  // the same as JSON
  kStablehlo,  // StableHLO text
};
struct FormatOptions {
  ModuleFormat format = ModuleFormat::kHlo;
  bool elide_large_constants = false;  // {...} for more than 10 elements, as XLA does by default
  // Text: XLA renumbers stack frames and reorders computations when it parses a text. False: a text that XLA printed
  // keeps its order.
  bool renumber = false;
};
Result<std::string> FormatModule(const Module& module, const FormatOptions& options = {});

}  // namespace shoal::internal
