// Engine: a module compiled for this machine, ready to run any number of times.
#pragma once

#include "compile/codegen/codegen.h"
#include "compile/program/program.h"
#include "core/base/thread_pool.h"
#include "execute/interp/thunk.h"
#include "execute/interp/run.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {

struct EngineOptions {
  int threads = 0;  // 0: as many as the machine has cores
  std::string cpu;  // empty: this machine's
  std::string cache_dir;  // where compiled code is kept for other runs; empty: nowhere
  PipelineOptions passes;
  // Somebody sees the value of every instruction as it is written: no passes, each op compiled by itself.
  bool per_instruction = false;
  std::function<void(const std::string& stage)> progress;  // told what begins; may be empty
};

class Executable {
 public:
  // The module was verified and must outlive the engine.
  static Result<std::unique_ptr<Executable>> Compile(const Module& module, const EngineOptions& options);

  ~Executable();

  const Program& program() const { return program_; }
  // What RunModule takes. Steps that are compiled run as such; observers see the instructions after the passes.
  const ModulePlan& plans() const { return *plans_; }
  double compile_seconds() const { return compile_seconds_; }
  // Sentences about what went wrong and was got over: a damaged entry of the cache, a full disk.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  explicit Executable(int threads) : pool_(threads) {}

  ThreadPool pool_;
  Program program_;
  std::vector<FusedKernel> launched_;  // what is compiled: the program's kernels, cut where rows are few
  std::unique_ptr<CompiledKernels> code_;
  std::unordered_map<const Instruction*, std::unique_ptr<Thunk>> steps_;
  std::unique_ptr<ModulePlan> plans_;
  double compile_seconds_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace shoal::internal
