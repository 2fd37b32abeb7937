// The options of shoal run.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/run.h"
#include "cli/commands/run_limits.h"
#include "core/ops/numerics.h"
#include "execute/data/generate.h"

namespace shoal::internal {

Run AddRun(Options& verb) {
  auto flags = std::make_shared<RunFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--num_replicas", flags->num_replicas, "Replicas; default: what the module says")
      .Between(1, kMaxDevices);
  verb.Value("--num_partitions", flags->num_partitions, "Partitions; default: what the module says")
      .Between(1, kMaxDevices);
  verb.Value("--inputs", flags->inputs, "A folder with dD/K.npy or K.npy for all devices, or an .npz file");
  verb.Value("--outputs", flags->outputs, "Write the results to this folder, as dD/K.npy");
  verb.Value("--hlo_argument_mode", flags->argument_mode, "How to make up inputs that are not given")
      .OneOf(ArgumentModeNames());
  verb.Value("--random_seed", flags->random_seed, "For made-up inputs and rng");
  verb.Value("--numerics", flags->numerics, "How sums round where HLO leaves it open; default: what the module shows")
      .OneOf({std::begin(kNumerics), std::end(kNumerics)});
  verb.Flag("--print_literals", flags->print_literals, "Print the results as HLO literals, not a summary");
  verb.Flag("--check_nans", flags->check_nans, "Stop at the first instruction that makes a NaN or an infinity");
  verb.Value("--dump", flags->dump, "Write every value of instructions whose name matches this expression");
  verb.Value("--dump_dir", flags->dump_dir, "Where to, as dD/NAME.npy");
  AddTo(verb, flags->limits);
  verb.Flag("--stub_custom_calls", flags->stub_custom_calls,
                 "Make up the results of custom calls that nobody knows");
  verb.Value("--fill_elided", flags->fill_elided, "Make up the values of literals that the dump elided");
  AddTo(verb, flags->engine);
  verb.Value("--num_repeats", flags->num_repeats, "Run so often; the results are those of the last run")
      .Between(1, int64_t{1} << 40);
  verb.FlagWithValue("--profile", flags->profile, "-",
                     "Print the steps that took longest; with a file, write a trace for Perfetto (ui.perfetto.dev)");
  verb.Flag("--explain", flags->explain, "Print the program that --engine=jit would run, and do not run it");
  verb.Flag("--check_snapshot", flags->check_snapshot,
                 "Compare with the result that a snapshot recorded; exit status 1 if they differ");
  AddTo(verb, flags->job);
  AddTo(verb, flags->common, Strictness::kStrict);
  verb.Footer(
      "run is always strict: a module that check refuses is refused. K counts the arrays of the parameters or of the\n"
      "result, tuples flattened; D is replica * num_partitions + partition. Exit status 1 if the module, its inputs "
      "or\n"
      "its execution is at fault, 2 if the call or the machine is. docs/run.md says more.\n\n"
      "Examples:\n"
      "  shoal run module.hlo\n"
      "  shoal run module.hlo --num_partitions=8 --inputs=in --outputs=out\n"
      "  shoal run module.hlo --hlo_argument_mode=use_zeros_as_input --print_literals\n"
      "  shoal run module.hlo --check_nans --dump='^dot' --dump_dir=/tmp/dots\n"
      "  shoal run module.hlo --profile=trace.json\n"
      "  mpirun -n 4 shoal run module.hlo --outputs=out");
  return [=] { return RunVerb(*flags); };
}

}  // namespace shoal::internal
