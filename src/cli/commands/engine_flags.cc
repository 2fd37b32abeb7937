#include "cli/commands/engine_flags.h"

#include "cli/commands/interrupt.h"
#include "cli/commands/output.h"
#include "cli/commands/progress.h"
#include "core/base/strings.h"

namespace shoal::internal {

Result<std::shared_ptr<const Executable>> CompileModule(std::shared_ptr<const Module> module, const std::string& file,
                                                        const EngineFlags& flags, bool quiet, CompileOptions options) {
  options.engine = flags.engine == "jit" ? Engine::kCompiled : Engine::kInterpreter;
  if (options.engine == Engine::kInterpreter) return Executable::Compile(std::move(module), options);
  ProgressLine line(StrCat("compiling ", file));
  SetActivity(StrCat("compiling ", file));
  options.cpu = flags.cpu;
  options.cache_dir = flags.cache_dir;
  options.progress = [&](const std::string& stage) { line.Show(0, 0, stage); };
  Result<std::shared_ptr<const Executable>> executable = Executable::Compile(module, options);
  line.Clear();
  if (!executable.ok() && executable.diag().rule == kNoCodeGenerator) {
    if (!quiet) PrintToStderr(StrCat("warning: ", executable.diag().message, "; using the interpreter instead\n"));
    options.engine = Engine::kInterpreter;
    return Executable::Compile(std::move(module), options);
  }
  if (executable.ok() && !quiet)
    for (const std::string& warning : (*executable)->warnings()) PrintToStderr(StrCat("warning: ", warning, "\n"));
  return executable;
}

}  // namespace shoal::internal
