// Machine code for fused kernels. LLVM is in a separate library that is loaded when the first kernel is compiled, so
// that commands without compilation start fast.
#pragma once

#include <future>
#include <memory>
#include <span>
#include <string>

#include "compile/codegen/object_cache.h"
#include "compile/program/routine.h"
#include "core/base/result.h"
#include "core/base/thread_pool.h"

namespace shoal::internal {

// Owns compiled code in memory.
class CompiledKernels {
 public:
  virtual ~CompiledKernels() = default;
  // The code of kernel number i.
  virtual KernelCode code(size_t i) const = 0;
  // The code of routine number i.
  virtual RoutineCode routine(size_t i) const = 0;
};

struct CodeOptions {
  std::string cpu;               // LLVM's name of a CPU, such as "haswell"; empty: the CPU of this machine
  ObjectCache* cache = nullptr;  // null: no cache
};

class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;
  // Performs one-time initialization that would otherwise slow down the first compilation.
  virtual void Warm() = 0;
  // Compiles on the pool's threads. Fails with a usage error if this machine cannot run code for the CPU.
  virtual Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                           std::span<const Routine* const> routines,
                                                           const CodeOptions& options, ThreadPool& pool) = 0;
};

// The rule of the error if the library cannot be loaded. The caller can use the interpreter instead.
inline constexpr std::string_view kNoCodeGenerator = "codegen.missing";

// Starts loading and initializing the code generator on a background thread. The returned future blocks in its
// destructor. Destroy it before main returns, because the library's static objects are destroyed then.
std::future<void> PrefetchCodeGenerator();

// Loads the library. The error contains the path that was tried.
Result<CodeGenerator*> LoadCodeGenerator();

}  // namespace shoal::internal
