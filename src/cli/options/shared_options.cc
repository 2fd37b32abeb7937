#include "cli/options/shared_options.h"

#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal::internal {

std::string ValidateBytes(const std::string& text) {
  return ParseBytes(text) ? std::string() : StrCat("not a number of bytes: ", text);
}

void AddTo(Options& verb, CommonFlags& flags, Strictness reading) {
  verb.Flag("--json", flags.json, "For programs: JSON, on standard output");
  verb.Flag("--warnings", flags.warnings, "Show all warnings; else one line says how many there are");
  if (reading == Strictness::kFlagControlled)
    verb.Flag("--strict", flags.strict, "Accept exactly what XLA's parser accepts; each liberty of the text is an error");
  verb.Flag("--verbose", flags.verbose, "With each message, the place in shoal's own code that made it");
}

void AddTo(Options& verb, EngineFlags& flags) {
  verb.Value("--engine", flags.engine, "jit: compiled for this machine; interp: the reference, op by op")
      .OneOf({"jit", "interp"})
      .FromEnvironment("SHOAL_ENGINE");
  verb.Value("--threads", flags.threads, "Of the engine; default: as many as there are cores").Between(0, 1024);
  verb.Value("--cpu", flags.cpu, "Compile for this CPU, by LLVM's name, as haswell; default: the one here");
  verb.Value("--cache_dir", flags.cache_dir, "Keep compiled code in this folder, for the next run; at most 1 GiB of it")
      .FromEnvironment("SHOAL_CACHE_DIR");
}

void AddTo(Options& verb, RunLimits& flags) {
  verb.Value("--max_instructions", flags.max_instructions, "Give up when a device has run so many instructions; 0: never")
      .NotNegative();
  verb.Value("--max_seconds", flags.max_seconds, "Give up after so long; 0: never").NotNegative();
  verb.Value("--max_memory", flags.max_memory,
             "Give up when a device's arrays need more: 2GB, 512MiB; default: what the machine has")
      .Check(ValidateBytes);
}

void AddTo(Options& verb, LoopFlags& flags) {
  verb.Values("--trips", flags.trips, "NAME=N: how often the while of that name goes round").Check(LoopFlags::ValidateTripCount);
  verb.Values("--probability", flags.probabilities, "NAME=P: how likely the branch computation of that name is")
      .Check(LoopFlags::ValidateProbability);
}

void AddTo(Options& verb, JobFlags& flags) {
  verb.Value("--transport", flags.transport, "mpi: devices are divided among the processes of an MPI job; threads: all here; "
             "auto: mpi where mpirun or srun started several")
      .OneOf({"auto", "mpi", "threads"});
  verb.Value("--placement", flags.placement, "Which process runs which devices: block, cyclic, or a file with a line for each "
             "process, as 0-3,8");
  verb.Value("--reduction", flags.reduction, "ordered: the bits of one process; fast: floats in whatever order MPI likes")
      .OneOf({"ordered", "fast"});
  verb.Flag("--gather", flags.gather, "The first process collects all results, and alone writes --outputs");
}

}  // namespace shoal::internal
