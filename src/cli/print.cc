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
  Report(input, flags.common);
  if (input.module == nullptr) return kInputAtFault;
  Result<std::string> formatted = Formatted(*input.module, flags);
  Status written = formatted.ok() ? WriteOutput(flags.output, *formatted) : Status(formatted.diag());
  if (written.ok()) return kOk;
  input.diags = {};
  input.diags.Add(written.diag());
  Report(input, flags.common);
  return formatted.ok() ? kCallAtFault : kInputAtFault;
}

}  // namespace

Run AddPrint(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("print", "Print a module as XLA would, or as .pb, JSON or short text");
  auto flags = std::make_shared<PrintFlags>();
  verb->add_option("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input")->required();
  verb->add_option("--format", flags->format,
                   "hlo: canonical text; short: without %, signatures and metadata; pb; json")
      ->check(CLI::IsMember({"hlo", "pb", "json", "short"}))
      ->capture_default_str();
  verb->add_flag("--json", flags->common.json, "The same as --format=json");
  verb->add_option("-o,--output", flags->output, "Write here instead of standard output");
  verb->add_flag("--elide_large_constants", flags->elide_large_constants,
                 "{...} for constants of more than 10 elements, as XLA's own default");
  flags->common.AddTo(*verb);
  verb->footer(
      "Nothing is lost by default: large constants are printed in full, unknown ops and attributes as they are.\n\n"
      "Examples:\n"
      "  shoal print module.hlo\n"
      "  shoal print --format=short module.hlo.pb | less\n"
      "  shoal print --format=pb module.hlo -o module.pb\n"
      "  zcat dump.txt.gz | shoal print -");
  return [=] { return Print(*flags); };
}

}  // namespace shoal
