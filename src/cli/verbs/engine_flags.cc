#include "cli/verbs/engine_flags.h"

#include "cli/verbs/interrupt.h"
#include "cli/verbs/output.h"
#include "cli/verbs/progress.h"
#include "core/base/strings.h"

namespace shoal {

Result<std::unique_ptr<Engine>> CompiledModule(const Module& module, const std::string& file, const EngineFlags& flags,
                                               bool quiet, bool watched) {
  if (flags.engine != "jit") return std::unique_ptr<Engine>();
  ProgressLine line(StrCat("compiling ", file));
  NowDoing(StrCat("compiling ", file));
  EngineOptions options;
  options.threads = flags.threads;
  options.cpu = flags.cpu;
  options.cache_dir = flags.cache_dir;
  options.watched = watched;
  options.progress = [&](const std::string& stage) { line.Show(0, 0, stage); };
  Result<std::unique_ptr<Engine>> engine = Engine::Compile(module, options);
  line.Clear();
  if (!engine.ok() && engine.diag().rule == kNoCodeGenerator) {
    if (!quiet) Say(StrCat("warning: ", engine.diag().message, "; the interpreter runs instead\n"));
    return std::unique_ptr<Engine>();
  }
  if (engine.ok() && !quiet)
    for (const std::string& warning : (*engine)->warnings()) Say(StrCat("warning: ", warning, "\n"));
  return engine;
}

}  // namespace shoal
