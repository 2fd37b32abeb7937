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

// Compiles the module for this machine. Returns null if the interpreter must run it: with --engine=interp, or if the
// code generator is missing (prints a warning unless `quiet`). `per_instruction`: an observer sees every instruction.
Result<std::unique_ptr<Executable>> CompileModule(const Module& module, const std::string& file, const EngineFlags& flags,
                                                  bool quiet, bool per_instruction = false);

}  // namespace shoal::internal
