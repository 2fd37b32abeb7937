#include "cli/commands/print.h"

namespace shoal::internal {
namespace {

ModuleFormat FormatOf(const PrintFlags& flags) {
  if (flags.format == "pb") return ModuleFormat::kProto;
  if (flags.format == "json" || flags.common.json) return ModuleFormat::kProtoJson;
  if (flags.format == "short") return ModuleFormat::kShort;
  return ModuleFormat::kHlo;
}

}  // namespace

int PrintCommand(const PrintFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict, /*xla_compatible=*/flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<std::string> formatted = FormatModule(
      *input.module, {FormatOf(flags), flags.elide_large_constants, /*renumber=*/flags.common.strict});
  if (!formatted.ok()) return FailOnInput(input, formatted.diag(), flags.common);
  PrintTruncationWarning(input, flags.common);
  const Status written = WriteOutput(flags.output, *formatted);
  if (!written.ok()) return FailOnInput(input, written.diag(), flags.common);
  PrintWarnings(input, flags.common);
  return kOk;
}

}  // namespace shoal::internal
