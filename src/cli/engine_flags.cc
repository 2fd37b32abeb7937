#include "cli/engine_flags.h"

#include "base/strings.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"

namespace shoal {

void EngineFlags::AddTo(Options& verb) {
  verb.Value("--engine", engine, "jit: compiled for this machine; interp: the reference, op by op")
      .OneOf({"jit", "interp"})
      .FromEnvironment("SHOAL_ENGINE");
  verb.Value("--threads", threads, "Of the engine; default: as many as there are cores").Between(0, 1024);
  verb.Value("--cpu", cpu, "Compile for this CPU, by LLVM's name, as haswell; default: the one here");
  verb.Value("--cache_dir", cache_dir, "Keep compiled code in this folder, for the next run; at most 1 GiB of it")
      .FromEnvironment("SHOAL_CACHE_DIR");
}

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
