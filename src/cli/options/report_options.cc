// The options of shoal report.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/report.h"

namespace shoal::internal {

Run AddReport(Options& verb) {
  auto flags = std::make_shared<ReportFlags>();
  verb.Value("FILE", flags->a, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("B", flags->b, "Another module, to see both and what changed");
  verb.Value("-o,--output", flags->out, "The page; - is standard output").Required();
  verb.Repeated("--on", flags->on,
                "Also predict its time on this machine: h200, h100x8x64, a YAML file; several are compared");
  verb.Repeated("--trace", flags->traces,
                "A profile to show beside it: .xplane.pb or .json.gz of JAX, or of shoal run --profile");
  verb.Value("--budget", flags->budget, "Memory of a device, drawn as a line: 80GB, 512MiB, 1000000")
      .Check(ValidateBytes);
  verb.Value("--devices_per_node", flags->devices_per_node, "Neighbouring devices that share a fast network")
      .Positive();
  AddTo(verb, flags->loops);
  AddTo(verb, flags->common);
  verb.Footer(
      "The page is one file without a server: send it, or keep it beside a CI run. It asks the network for nothing.\n"
      "Its data have a format of their own (docs/report.md); other verbs say the same figures with --json.\n\n"
      "Examples:\n"
      "  shoal report module.hlo -o page.html\n"
      "  shoal report --on=h100x8 --budget=80GB module.hlo -o page.html\n"
      "  shoal report --on=h200 --trace=step.xplane.pb module.hlo -o page.html\n"
      "  shoal report yesterday.hlo today.hlo -o page.html");
  return [=] { return ReportVerb(*flags); };
}

}  // namespace shoal::internal
