// The engine options of the commands that run modules.
#pragma once

#include <memory>
#include <string>

#include "execute/runtime/executable.h"

namespace shoal::internal {

struct EngineFlags {
  std::string engine = "jit", cpu, cache_dir;
  int threads = 0;
};

// Compiles the module with the engine of the flags. If the code generator is missing, the interpreter replaces it, with a
// warning unless `quiet`.
Result<std::shared_ptr<const Executable>> CompileModule(std::shared_ptr<const Module> module, const std::string& file,
                                                        const EngineFlags& flags, bool quiet, CompileOptions options);

}  // namespace shoal::internal
