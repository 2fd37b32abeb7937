// The options of shoal compare.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/compare.h"
#include "execute/data/generate.h"

namespace shoal::internal {

Run AddCompare(Options& verb) {
  auto flags = std::make_shared<CompareFlags>();
  verb.Value("A", flags->a, "A module: HLO text, .pb, either with gzip").Required();
  verb.Value("B", flags->b, "Another; it may be the partitioned form of A").Required();
  verb.Value("--abs_error_bound", flags->bounds.abs, "Largest absolute difference; default: by type")
      .NotNegative();
  verb.Value("--rel_error_bound", flags->bounds.rel, "Largest relative difference; default: by type")
      .NotNegative();
  verb.Value("--num_replicas", flags->num_replicas, "Replicas; default: what the modules say")
      .Positive();
  verb.Value("--num_partitions", flags->num_partitions, "Partitions; default: what the modules say")
      .Positive();
  verb.Value("--inputs", flags->inputs, "Inputs for A, as `shoal run` takes them");
  verb.Value("--hlo_argument_mode", flags->argument_mode, "How to make up inputs that are not given")
      .OneOf(ArgumentModeNames());
  verb.Value("--random_seed", flags->random_seed, "For made-up inputs and rng");
  verb.Flag("--stub_custom_calls", flags->stub_custom_calls,
                 "Make up the results of custom calls that nobody knows");
  AddTo(verb, flags->engine);
  AddTo(verb, flags->limits);
  AddTo(verb, flags->job);
  AddTo(verb, flags->common, Strictness::kStrict);
  verb.Footer(
      "An element is out of bounds if it is beyond both. Where the parameters of one module are shards of the "
      "other's,\n"
      "inputs are cut and outputs put together by the shardings. Exit status 1 if any output is out of bounds, or if "
      "a\n"
      "module cannot be run. docs/compare.md says more.\n\n"
      "Examples:\n"
      "  shoal compare before_optimizations.hlo after_optimizations.hlo\n"
      "  shoal compare model.hlo model.partitioned.hlo --rel_error_bound=1e-4 --abs_error_bound=1e-6");
  return [=] { return CompareVerb(*flags); };
}

}  // namespace shoal::internal
