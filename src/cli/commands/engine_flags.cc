#include "cli/commands/engine_flags.h"

#include "cli/commands/interrupt.h"
#include "cli/commands/output.h"
#include "cli/commands/progress.h"
#include "core/base/strings.h"

namespace shoal::internal {

Result<std::unique_ptr<Executable>> CompileModule(const Module& module, const std::string& file, const EngineFlags& flags,
                                                  bool quiet, bool per_instruction) {
  if (flags.engine != "jit") return std::unique_ptr<Executable>();
  ProgressLine line(StrCat("compiling ", file));
  SetActivity(StrCat("compiling ", file));
  CompileOptions options;
  options.threads = flags.threads;
  options.cpu = flags.cpu;
  options.cache_dir = flags.cache_dir;
  options.per_instruction = per_instruction;
  options.progress = [&](const std::string& stage) { line.Show(0, 0, stage); };
  Result<std::unique_ptr<Executable>> engine = Executable::Compile(module, options);
  line.Clear();
  if (!engine.ok() && engine.diag().rule == kNoCodeGenerator) {
    if (!quiet) PrintToStderr(StrCat("warning: ", engine.diag().message, "; using the interpreter instead\n"));
    return std::unique_ptr<Executable>();
  }
  if (engine.ok() && !quiet)
    for (const std::string& warning : (*engine)->warnings()) PrintToStderr(StrCat("warning: ", warning, "\n"));
  return engine;
}

}  // namespace shoal::internal
