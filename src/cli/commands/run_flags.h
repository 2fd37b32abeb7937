// Flags of the commands that run modules.
#pragma once

#include "cli/commands/input.h"
#include "cli/commands/job.h"
#include "cli/commands/progress.h"
#include "shoal/execute.h"

namespace shoal::cli {

struct EngineFlags {
  std::string engine = "jit", cpu, cache_dir;
  int threads = 0;
};

struct RunLimits {
  int64_t max_instructions = 0;
  double max_seconds = 0;
  std::string max_memory;

  int64_t MaxBytes() const;  // 0: no limit
};

// The arguments of a run.
struct InputFlags {
  std::string path, mode = "use_random_inputs", shardings_from;
  std::vector<std::string> fixed;  // NAME=VALUE
  uint64_t random_seed = 0;
};

// The numerics of this name; inferred without a name.
Numerics NumericsOf(const std::string& name);
// The bytes of an array, or of the arrays of a tuple.
double BytesOf(const Shape& shape);

// `line` shows the stages of the compilation.
CompileOptions CompileOptionsOf(const EngineFlags& flags, const Job& job, ProgressLine& line);
// `line` shows the devices' positions.
ExecuteOptions ExecuteOptionsOf(const RunLimits& limits, ProgressLine& line);
// `line` shows the bytes of the generated arrays. Does not read shardings_from.
Result<InputOptions> InputOptionsOf(const InputFlags& flags, const RunLimits& limits, ProgressLine& line);
// Reads a module that runs can use.
Result<Module> ReadRunnable(const std::string& path);

}  // namespace shoal::cli
