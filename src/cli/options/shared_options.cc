#include "cli/options/shared_options.h"

#include "cli/commands/base.h"

namespace shoal::cli {

std::string ValidateBytes(const std::string& text) {
  return ParseBytes(text) ? std::string() : StrCat("must be a number of bytes such as 80GB or 512MiB, got ", text);
}

void AddTo(Options& command, CommonFlags& flags, Strictness strictness) {
  command.Flag("--json", flags.json, "Print JSON to standard output");
  command.Flag("--warnings", flags.warnings, "Show all warnings (default: only their number)");
  if (strictness == Strictness::kFlagControlled)
    command.Flag("--strict", flags.strict,
                 "Accept exactly what XLA's parser accepts; report every deviation as an error");
  command.Flag("--verbose", flags.verbose, "Show the location in shoal's own code that produced each message");
}

void AddTo(Options& command, EngineFlags& flags) {
  command.Value("--engine", flags.engine, "jit: compile the module for this machine; interp: interpret it op by op")
      .OneOf({"jit", "interp"}).FromEnvironment("SHOAL_ENGINE");
  command.Value("--threads", flags.threads, "Number of threads of the engine (0: one per core)").Between(0, 1024);
  command.Value("--cpu", flags.cpu, "Compile for this CPU (an LLVM CPU name such as haswell; default: this machine's)");
  command.Value("--cache_dir", flags.cache_dir, "Cache compiled code in this directory, at most 1 GiB")
      .FromEnvironment("SHOAL_CACHE_DIR");
}

void AddTo(Options& command, RunLimits& flags) {
  command.Value("--max_instructions", flags.max_instructions, "Stop after any device has executed N instructions (0: no limit)")
      .NotNegative();
  command.Value("--max_seconds", flags.max_seconds, "Stop after this many seconds (0: no limit)").NotNegative();
  command.Value("--max_memory", flags.max_memory,
                "Stop if a device's arrays need more than this: 2GB, 512MiB (default: the memory of the machine)")
      .Check(ValidateBytes);
}

void AddTo(Options& command, LoopFlags& flags) {
  command.Values("--trips", flags.trips, "NAME=N: trip count of the while loop NAME")
      .Check(LoopFlags::ValidateTripCount);
  command.Values("--probability", flags.probabilities, "NAME=P: probability of the branch computation NAME")
      .Check(LoopFlags::ValidateProbability);
}

void AddTo(Options& command, JobFlags& flags) {
  command.Value("--transport", flags.transport,
                "mpi: divide the devices among the processes of an MPI job; threads: run all devices in this process; "
                "auto: mpi if mpirun or srun started several processes")
      .OneOf({"auto", "mpi", "threads"});
  command.Value("--placement", flags.placement,
                "Assignment of devices to processes: block, cyclic, or a file with a line per process, such as 0-3,8");
  command.Value("--reduction", flags.reduction,
                "ordered: bit-identical to one process; fast: floats are summed in MPI's order")
      .OneOf({"ordered", "fast"});
  command.Flag("--gather", flags.gather, "Collect all results in the first process, which then writes all --outputs");
}

}  // namespace shoal::cli
