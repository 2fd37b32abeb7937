// Executable: a module compiled for this machine. It can be run any number of times.
#pragma once

#include "compile/codegen/codegen.h"
#include "compile/program/program.h"
#include "core/base/thread_pool.h"
#include "execute/interp/thunk.h"
#include "execute/interp/run.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {

struct CompileOptions {
  int threads = 0;        // 0: one per core
  std::string cpu;        // target CPU; empty: the CPU of this machine
  std::string cache_dir;  // folder that caches compiled code for later runs; empty: no cache
  PipelineOptions passes;
  // An observer needs the value of every instruction, so no passes run and each op is compiled separately.
  bool per_instruction = false;
  std::function<void(const std::string& stage)> progress;  // called at the start of each stage; may be empty
};

class Executable {
 public:
  // The module must be verified and must outlive the executable.
  static Result<std::unique_ptr<Executable>> Compile(const Module& module, const CompileOptions& options);

  ~Executable();

  const Program& program() const { return program_; }
  // The argument of RunModule. Compiled steps run as thunks. Observers see the instructions left by the passes.
  const ModulePlan& plans() const { return *plans_; }
  double compile_seconds() const { return compile_seconds_; }
  // Problems from which compilation recovered, as sentences, such as a corrupt cache entry or a full disk.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  explicit Executable(int threads) : pool_(threads) {}

  ThreadPool pool_;
  Program program_;
  std::vector<FusedKernel> kernels_;  // the program's kernels; reductions of few rows are split in two
  std::unique_ptr<CompiledKernels> code_;
  std::unordered_map<const Instruction*, std::unique_ptr<Thunk>> thunks_;
  std::unique_ptr<ModulePlan> plans_;
  double compile_seconds_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace shoal::internal
