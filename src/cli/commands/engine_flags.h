// Which engine runs a module: for the verbs that run one.
#pragma once

#include <memory>
#include <string>

#include "execute/runtime/executable.h"

namespace shoal::internal {

struct EngineFlags {
  std::string engine = "jit", cpu, cache_dir;
  int threads = 0;
};

// The module compiled for this machine; null where the interpreter is to run it, because it was asked for or because
// there is no code generator, which is said unless `quiet`. `watched`: somebody looks at every value.
Result<std::unique_ptr<Executable>> CompiledModule(const Module& module, const std::string& file, const EngineFlags& flags,
                                               bool quiet, bool per_instruction = false);

}  // namespace shoal::internal
