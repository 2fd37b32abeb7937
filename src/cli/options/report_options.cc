// Options of shoal report.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/report.h"

namespace shoal::cli {

Action AddReport(Options& command) {
  auto flags = std::make_shared<ReportFlags>();
  command.Value("FILE", flags->a, kModuleHelp).Required();
  command.Value("B", flags->b, "A second module, to show next to the first, with the differences");
  command.Value("-o,--output", flags->out, "Write the page to this file; - for standard output").Required();
  command.Repeated("--on", flags->on,
                   "Also predict the step time on this machine: h200, h100x8x64 or a YAML file; may be repeated");
  command.Repeated("--trace", flags->traces,
                   "Also show a measured profile: JAX's .xplane.pb or .json.gz, or a trace of shoal run --profile");
  command.Value("--budget", flags->budget, "Device memory, drawn as a line in the memory view: 80GB, 512MiB")
      .Check(ValidateBytes);
  command.Value("--devices_per_node", flags->devices_per_node, "Number of consecutive devices in a node")
      .Positive();
  command.Value("--backend", flags->backend, "The backend that compiled the module (default: inferred)")
      .OneOf({std::begin(kBackends), std::end(kBackends)});
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "The page is a single file that needs neither a server nor a network: send it, or attach it to a CI run.\n"
      "docs/report.md describes its data format; the other commands print the same numbers with --json.\n\n"
      "Examples:\n"
      "  shoal report module.hlo -o page.html\n"
      "  shoal report --on=h100x8 --budget=80GB module.hlo -o page.html\n"
      "  shoal report --on=h200 --trace=step.xplane.pb module.hlo -o page.html\n"
      "  shoal report yesterday.hlo today.hlo -o page.html");
  return [=] { return ReportCommand(*flags); };
}

}  // namespace shoal::cli
