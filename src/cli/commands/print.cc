#include "cli/commands/print.h"

namespace shoal::cli {
namespace {

Format FormatOf(const PrintFlags& flags) {
  if (flags.format == "pb") return Format::kProto;
  if (flags.format == "json" || flags.common.json) return Format::kProtoJson;
  if (flags.format == "stablehlo") return Format::kStablehlo;
  if (flags.format == "short") return Format::kShort;
  return Format::kHlo;
}

}  // namespace

int PrintCommand(const PrintFlags& flags) {
  const bool strict = flags.common.strict;
  const Result<Module> module = ReadModule(flags.file, {strict, /*xla_compatible=*/strict});
  if (!module.ok()) return Fail(module.error(), flags.common);
  const Result<std::string> printed = Print(*module, {FormatOf(flags), flags.elide_large_constants, /*renumber=*/strict});
  if (!printed.ok()) return Fail(printed.error(), flags.common);
  PrintTruncationWarning(*module, flags.common);
  if (const Status written = WriteOutput(flags.output, *printed); !written.ok()) return Fail(written.error(), flags.common);
  PrintWarnings(*module, flags.common);
  return kOk;
}

}  // namespace shoal::cli
