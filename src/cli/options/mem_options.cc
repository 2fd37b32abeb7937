// The options of shoal mem.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/mem.h"
#include "core/ops/backend.h"

namespace shoal::internal {

Run AddMem(Options& verb) {
  auto flags = std::make_shared<MemFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--budget", flags->budget, "Exit with 1 if a device needs more: 80GB, 512MiB, 1000000")
      .Check(ValidateBytes);
  verb.Value("--top", flags->top, "So many buffers; 0: all").NotNegative();
  verb.Value("--backend", flags->backend, "Whose rules for buffers hold; default: what the module shows")
      .OneOf({std::begin(kBackends), std::end(kBackends)});
  verb.Flag("--run", flags->run, "Also work out what shoal run would hold");
  AddTo(verb, flags->common);
  verb.Footer(
      "Figures are per device, counted as XLA assigns buffers: temporaries are one block that holds them all, "
      "packed.\n\n"
      "Examples:\n"
      "  shoal mem module.hlo\n"
      "  shoal mem --budget=80GB module.hlo\n"
      "  shoal mem --json module.hlo | jq .device.peak");
  return [=] { return MemVerb(*flags); };
}

}  // namespace shoal::internal
