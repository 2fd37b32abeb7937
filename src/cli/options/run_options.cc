// Options of shoal run.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/run.h"

namespace shoal::cli {

Action AddRun(Options& command) {
  auto flags = std::make_shared<RunFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("--num_replicas", flags->num_replicas, "Number of replicas (default: inferred from the module)")
      .Between(1, kMaxDevices);
  command.Value("--num_partitions", flags->num_partitions, "Number of partitions (default: inferred from the module)")
      .Between(1, kMaxDevices);
  command.Value("--inputs", flags->inputs.path, "Directory with dD/K.npy, or K.npy for all devices; or an .npz file");
  command.Value("--shardings_from", flags->inputs.shardings_from,
                "Generate the inputs of this module, from before SPMD partitioning, and split them by its shardings");
  command.Value("--outputs", flags->outputs, "Write the results to this directory, as dD/K.npy");
  command.Value("--hlo_argument_mode", flags->inputs.mode, "Method of generating missing inputs")
      .OneOf(InputModeNames());
  command.Repeated("--input", flags->inputs.fixed,
                   "NAME=VALUE: give a parameter this value instead of a generated one; may be repeated");
  command.Value("--random_seed", flags->inputs.random_seed, "Seed for generated inputs and rng ops");
  command.Value("--numerics", flags->numerics, "Rounding and summation order (default: inferred from the module)")
      .OneOf(NumericsNames());
  command.Flag("--print_literals", flags->print_literals, "Print the results as HLO literals instead of a summary");
  command.Flag("--check_nans", flags->check_nans, "Stop at the first instruction that produces a NaN or an infinity");
  command.Value("--dump", flags->dump, "Write all values of instructions whose name matches this regular expression");
  command.Value("--dump_dir", flags->dump_dir, "Directory for --dump, which writes dD/NAME.npy");
  AddTo(command, flags->limits);
  command.Flag("--stub_custom_calls", flags->stub_custom_calls,
               "Generate placeholder results for unknown custom calls");
  command.Value("--fill_elided", flags->fill_elided, "Generate values for literals that the dump elided");
  AddTo(command, flags->engine);
  command.Value("--num_repeats", flags->num_repeats, "Run the module N times; the results are those of the last run")
      .Between(1, int64_t{1} << 40);
  command.FlagWithValue("--profile", flags->profile, "-",
                        "Print the instructions that took longest; --profile=FILE writes a trace for Perfetto instead");
  command.Flag("--explain", flags->explain, "Print the program that --engine=jit would run, without running it");
  command.Flag("--check_snapshot", flags->check_snapshot,
               "Compare with the result recorded in the snapshot; exit with status 1 if they differ");
  AddTo(command, flags->job);
  AddTo(command, flags->common, Strictness::kStrict);
  command.Footer(
      "run is always strict: it rejects every module that shoal check rejects. K is the index of an array among the\n"
      "parameters or results, with tuples flattened; D is the device id, replica * num_partitions + partition. The\n"
      "exit status is 1 if the module, its inputs or its execution has an error, and 2 if the command line or the\n"
      "environment is the cause. See docs/run.md for details.\n\n"
      "Examples:\n"
      "  shoal run module.hlo\n"
      "  shoal run module.hlo --num_partitions=8 --inputs=in --outputs=out\n"
      "  shoal run module.hlo --hlo_argument_mode=use_zeros_as_input --print_literals\n"
      "  shoal run module.hlo --check_nans --dump='^dot' --dump_dir=/tmp/dots\n"
      "  shoal run module.hlo --profile=trace.json\n"
      "  mpirun -n 4 shoal run module.hlo --outputs=out");
  return [=] { return RunCommand(*flags); };
}

}  // namespace shoal::cli
