// shoal print: canonical text, or another form.
#include <memory>

#include "cli/input.h"
#include "cli/verbs.h"
#include "proto/write.h"
#include "text/printer.h"

namespace shoal {
namespace {

struct PrintFlags {
  CommonFlags common;
  std::string file, format = "hlo", output;
  bool elide_large_constants = false;
};

Result<std::string> Formatted(const Module& module, const PrintFlags& flags) {
  if (flags.format == "pb") return WriteProto(module);
  if (flags.format == "json" || flags.common.json) return WriteProtoAsJson(module);
  PrintOptions options = flags.format == "short" ? PrintOptions::Short() : PrintOptions{};
  options.elide_large_constants = flags.elide_large_constants;
  if (flags.format == "hlo" && !flags.common.strict) return PrintModuleLikeSource(module, options);
  if (!flags.common.strict && IsAsPrinted(module)) options.renumber_frames = options.reorder_computations = false;
  return PrintModule(module, options);
}

int Print(const PrintFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict, /*as_xla=*/flags.common.strict});
  if (input.module == nullptr) return Refuse(input, flags.common);
  const Result<std::string> formatted = Formatted(*input.module, flags);
  if (!formatted.ok()) return Refuse(input, formatted.diag(), flags.common);
  SayFirst(input, flags.common);
  const Status written = WriteOutput(flags.output, *formatted);
  if (!written.ok()) return Refuse(input, written.diag(), flags.common);
  SayWarnings(input, flags.common);
  return kOk;
}

}  // namespace

Run AddPrint(Options& verb) {
  auto flags = std::make_shared<PrintFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--format", flags->format,
                   "hlo: canonical text; short: without %, signatures and metadata; pb; json")
      .OneOf({"hlo", "pb", "json", "short"});
  verb.Value("-o,--output", flags->output, "Write here instead of standard output");
  verb.Flag("--elide_large_constants", flags->elide_large_constants,
                 "{...} for constants of more than 10 elements, as XLA's own default");
  flags->common.AddTo(verb);
  verb.Footer(
      "Nothing is lost by default: large constants are printed in full, unknown ops and attributes as they are.\n\n"
      "Examples:\n"
      "  shoal print module.hlo\n"
      "  shoal print --format=short module.hlo.pb | less\n"
      "  shoal print --format=pb module.hlo -o module.pb\n"
      "  zcat dump.txt.gz | shoal print -");
  return [=] { return Print(*flags); };
}

}  // namespace shoal
