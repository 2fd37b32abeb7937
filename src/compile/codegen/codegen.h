// Machine code for fused kernels. LLVM is in a separate library that is loaded when the first kernel is compiled, so
// that commands without compilation start fast.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "compile/program/routine.h"
#include "core/base/result.h"

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

// A cache of compiled code. `key` contains everything the code depends on. Thread-safe.
class CodeCache {
 public:
  virtual ~CodeCache() = default;
  virtual std::optional<std::string> Read(std::string_view key) = 0;
  virtual void Write(std::string_view key, std::string_view object) = 0;
};

struct CodeOptions {
  std::string cpu;             // LLVM's name of a CPU, such as "haswell"; empty: the CPU of this machine
  CodeCache* cache = nullptr;  // null: no cache
  // Calls task(i) for every i in [0, count), on `threads` threads.
  std::function<void(int64_t count, const std::function<void(int64_t i)>& task)> run;
  int threads = 1;
};

class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;
  // Performs one-time initialization that would otherwise slow down the first compilation.
  virtual void Warm() = 0;
  // Fails with a usage error if this machine cannot run code for the CPU.
  virtual Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                           std::span<const Routine* const> routines,
                                                           const CodeOptions& options) = 0;
};

// The rule of the error if the library cannot be loaded. The caller can use the interpreter instead.
inline constexpr std::string_view kNoCodeGenerator = "codegen.missing";

// Starts loading and initializing the code generator on a background thread. The returned thread is joined by its
// destructor. Destroy it before main returns, because the library's static objects are destroyed then.
std::jthread PrefetchCodeGenerator();

// Loads the library. The error contains the path that was tried.
Result<CodeGenerator*> LoadCodeGenerator();

}  // namespace shoal::internal
