// Machine code for fused kernels. LLVM is in a library of its own that is opened when the first kernel is compiled, so
// that what compiles nothing does not pay for it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "program/routine.h"

namespace shoal {

// Code in memory, for as long as this lives.
class CompiledKernels {
 public:
  virtual ~CompiledKernels() = default;
  // Of kernel number i.
  virtual KernelCode code(size_t i) const = 0;
  // Of routine number i.
  virtual RoutineCode routine(size_t i) const = 0;
};

class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;
  // All of them, on the pool's threads. `cpu` is a name that LLVM knows, as "haswell"; empty: this machine's.
  virtual Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                           std::span<const std::unique_ptr<Routine>> routines,
                                                           const std::string& cpu, ThreadPool& pool) = 0;
};

// Opens the library; a failure says where it was looked for.
Result<CodeGenerator*> LoadCodeGenerator();

}  // namespace shoal
