// Options of shoal time.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/time.h"

namespace shoal::cli {

Action AddTime(Options& command) {
  auto flags = std::make_shared<TimeFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("B", flags->b, "A second module, whose step is shown beside that of the first");
  command.Repeated("--on", flags->on,
                   "Machine: h200, h100x8, h100x8x64, tpu-v5p-4x4x8 or a YAML file; repeat it to compare").Required();
  command.Repeated("--set", flags->set, "Change a parameter of the machine: nic=100GB/s, device.bandwidth=4TB/s");
  command.Value("--sweep", flags->sweep, "Predict for several values of one parameter: nodes=1,2,4,8");
  command.Value("--explain", flags->explain, "Show how the time of this op or collective was computed");
  command.Value("--trace", flags->trace, "Write the predicted timeline to this file, for Perfetto (ui.perfetto.dev)");
  command.Value("--against", flags->against,
                "Compare with a measured profile: JAX's .xplane.pb or .json.gz, or a trace of shoal run --profile");
  command.Value("--top", flags->top, "Show at most N ops and N source lines (0: all)").NotNegative();
  command.Flag("--all", flags->all, "With --json: include every op, with the terms of its time");
  command.Value("--num_replicas", flags->num_replicas, "Number of replicas (default: inferred from the module)")
      .Positive();
  command.Value("--num_partitions", flags->num_partitions, "Number of partitions (default: inferred from the module)")
      .Positive();
  command.Value("--backend", flags->backend, "The backend that compiled the module (default: inferred)")
      .OneOf({std::begin(kBackends), std::end(kBackends)});
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "step_seconds is the time from step to step; device_seconds is the time that a device computes or waits for\n"
      "other devices. Run shoal machines for a list of machines.\n\n"
      "Examples:\n"
      "  shoal time module.hlo --on=h200\n"
      "  shoal time module.hlo --on=h100x8x16 --trace=step.json\n"
      "  shoal time module.hlo --on=h100x8 --on=b200x8\n"
      "  shoal time yesterday.hlo today.hlo --on=h100x8\n"
      "  shoal time module.hlo --on=h200 --against=step.xplane.pb\n"
      "  shoal time module.hlo --on=h100x8 --sweep nodes=2,4,8,16\n"
      "  shoal time module.hlo --on=h100x8x16 --set nic=100GB/s --json | jq .step_seconds");
  return [=] { return TimeCommand(*flags); };
}

}  // namespace shoal::cli
