#include "cli/commands/print.h"

#include "formats/proto/write.h"
#include "formats/text/printer.h"

namespace shoal::internal {
namespace {

Result<std::string> Formatted(const Module& module, const PrintFlags& flags) {
  if (flags.format == "pb") return WriteProto(module);
  if (flags.format == "json" || flags.common.json) return WriteProtoAsJson(module);
  PrintOptions options = flags.format == "short" ? PrintOptions::Short() : PrintOptions{};
  options.elide_large_constants = flags.elide_large_constants;
  if (flags.format == "hlo" && !flags.common.strict) return PrintModuleLikeSource(module, options);
  if (!flags.common.strict && IsCanonicalText(module)) options.renumber_frames = options.reorder_computations = false;
  return PrintModule(module, options);
}

}  // namespace

int PrintCommand(const PrintFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict, /*xla_compatible=*/flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<std::string> formatted = Formatted(*input.module, flags);
  if (!formatted.ok()) return FailOnInput(input, formatted.diag(), flags.common);
  PrintTruncationWarning(input, flags.common);
  const Status written = WriteOutput(flags.output, *formatted);
  if (!written.ok()) return FailOnInput(input, written.diag(), flags.common);
  PrintWarnings(input, flags.common);
  return kOk;
}

}  // namespace shoal::internal
