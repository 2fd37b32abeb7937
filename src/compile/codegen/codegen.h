// Machine code for fused kernels. LLVM is in a library of its own that is opened when the first kernel is compiled, so
// that what compiles nothing does not pay for it.
#pragma once

#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/codegen/object_cache.h"
#include "compile/program/routine.h"
#include "core/base/result.h"
#include "core/base/thread_pool.h"

namespace shoal::internal {

// Code in memory, for as long as this lives.
class CompiledKernels {
 public:
  virtual ~CompiledKernels() = default;
  // Of kernel number i.
  virtual KernelCode code(size_t i) const = 0;
  // Of routine number i.
  virtual RoutineCode routine(size_t i) const = 0;
};

struct CodeOptions {
  std::string cpu;               // a name that LLVM knows, as "haswell"; empty: this machine's
  ObjectCache* cache = nullptr;  // null: none
};

class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;
  // Does once what the first compilation would have to do, on another thread than that.
  virtual void Warm() = 0;
  // All of them, on the pool's threads. A CPU that nobody knows, or whose code this machine cannot run, is the call's fault.
  virtual Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                           std::span<const Routine* const> routines,
                                                           const CodeOptions& options, ThreadPool& pool) = 0;
};

// The rule of a failure to open the library: what was to be compiled can still be interpreted.
inline constexpr std::string_view kNoCodeGenerator = "codegen.missing";

// Begins to open the library and to set it up, on a thread of its own, for who will need it soon. What it returns waits for that when it
// is dropped, which must be before the program ends: the library's own objects end then.
std::future<void> PrefetchCodeGenerator();

// Opens the library; a failure says where it was looked for.
Result<CodeGenerator*> LoadCodeGenerator();

}  // namespace shoal::internal
