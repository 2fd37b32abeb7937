// The options of shoal time.
#include "analyze/facts/device_grid.h"
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/time.h"

namespace shoal::internal {

Run AddTime(Options& verb) {
  auto flags = std::make_shared<TimeFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Repeated("--on", flags->on, "The machine: h200, h100x8, h100x8x64, tpu-v5p-4x4x8, or a YAML file; several are compared").Required();
  verb.Repeated("--set", flags->set, "A figure of the machine: nic=100GB/s, device.bandwidth=4TB/s");
  verb.Value("--sweep", flags->sweep, "One figure at several values: nodes=1,2,4,8");
  verb.Value("--explain", flags->explain, "How this op or collective was priced, and from which data");
  verb.Value("--trace", flags->trace, "Writes the timeline for Perfetto (ui.perfetto.dev) to this file");
  verb.Value("--against", flags->against, "A profile to lay beside: .xplane.pb or .json.gz of JAX, or of shoal run --profile");
  verb.Value("--top", flags->top, "So many ops and source lines; 0: all").NotNegative();
  verb.Flag("--all", flags->all, "With --json: every op, with the terms of its price");
  verb.Value("--num_replicas", flags->num_replicas, "Replicas; default: what the module says")
      .Between(1, kMaxIds);
  verb.Value("--num_partitions", flags->num_partitions, "Partitions; default: what the module says")
      .Between(1, kMaxIds);
  AddTo(verb, flags->loops);
  AddTo(verb, flags->common);
  verb.Footer(
      "step_seconds is what a caller sees from step to step, device_seconds how long the device works or waits for\n"
      "others. shoal machines lists the machines.\n\n"
      "Examples:\n"
      "  shoal time module.hlo --on=h200\n"
      "  shoal time module.hlo --on=h100x8x16 --trace=step.json\n"
      "  shoal time module.hlo --on=h100x8 --on=b200x8\n"
      "  shoal time module.hlo --on=h200 --against=step.xplane.pb\n"
      "  shoal time module.hlo --on=h100x8 --sweep nodes=2,4,8,16\n"
      "  shoal time module.hlo --on=h100x8x16 --set nic=100GB/s --json | jq .step_seconds");
  return [=] { return TimeVerb(*flags); };
}

}  // namespace shoal::internal
