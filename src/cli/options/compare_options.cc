// Options of shoal compare.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/compare.h"

namespace shoal::cli {

Action AddCompare(Options& command) {
  auto flags = std::make_shared<CompareFlags>();
  command.Value("A", flags->a, kModuleHelp).Required();
  command.Value("B", flags->b, "The module to compare with A; may be its partitioned version").Required();
  command.Value("--abs_error_bound", flags->abs_error_bound, "Largest allowed absolute difference (default: by type)")
      .NotNegative();
  command.Value("--rel_error_bound", flags->rel_error_bound, "Largest allowed relative difference (default: by type)")
      .NotNegative();
  command.Value("--num_replicas", flags->num_replicas, "Number of replicas (default: inferred from the modules)")
      .Positive();
  command.Value("--num_partitions", flags->num_partitions, "Number of partitions (default: inferred from the modules)")
      .Positive();
  command.Value("--inputs", flags->inputs.path, "Inputs for A, in the format of shoal run --inputs");
  command.Value("--shardings_from", flags->inputs.shardings_from,
                "A module whose parameters and results have the shardings that A and B lack");
  command.Value("--hlo_argument_mode", flags->inputs.mode, "Method of generating missing inputs")
      .OneOf(InputModeNames());
  command.Repeated("--input", flags->inputs.fixed,
                   "NAME=VALUE: give a parameter this value instead of a generated one; may be repeated");
  command.Value("--random_seed", flags->inputs.random_seed, "Seed for generated inputs and rng ops");
  command.Flag("--stub_custom_calls", flags->stub_custom_calls,
               "Generate placeholder results for unknown custom calls");
  AddTo(command, flags->engine);
  AddTo(command, flags->limits);
  AddTo(command, flags->job);
  AddTo(command, flags->common, Strictness::kStrict);
  command.Footer(
      "An element is out of bounds if its difference exceeds both bounds. If the parameters of one module are shards\n"
      "of the other's, inputs are split and outputs reassembled as the shardings specify. The exit status is 1 if an\n"
      "output is out of bounds or a module cannot be run. See docs/compare.md for details.\n\n"
      "Examples:\n"
      "  shoal compare before_optimizations.hlo after_optimizations.hlo\n"
      "  shoal compare model.hlo model.partitioned.hlo --rel_error_bound=1e-4 --abs_error_bound=1e-6");
  return [=] { return CompareCommand(*flags); };
}

}  // namespace shoal::cli
