// Executable: a module prepared for this machine. It is immutable: any number of threads may run it simultaneously.
//
//     ThreadPool pool;
//     SHOAL_ASSIGN(executable, Executable::Compile(module, {.grid = InferDevices(*module).grid, .pool = &pool}));
//     RunSettings settings;
//     settings.pool = &pool;
//     SHOAL_ASSIGN(outcome, executable->Run(std::move(arguments), settings));
//
// Ownership: the executable shares the module. The results of a run share what they need of it, so they outlive the run
// and the executable. The pool and everything else in CompileOptions is used during Compile only, and everything in
// RunSettings during Run only. Several runs may share one pool; a settings object belongs to one run if it has an observer.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compile/codegen/codegen.h"
#include "compile/program/program.h"
#include "core/base/thread_pool.h"
#include "core/ops/numerics.h"
#include "execute/interp/run.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {

enum class Engine : uint8_t {
  kCompiled,     // optimizes the module and compiles it to machine code
  kInterpreter,  // evaluates the module's own instructions one by one; compiles nothing
};

struct CompileOptions {
  Engine engine = Engine::kCompiled;
  DeviceGrid grid;                         // the devices of each run
  Numerics numerics = Numerics::kXlaCpu;   // how each run rounds
  ThreadPool* pool = nullptr;              // compiles kernels in parallel; null: this thread compiles them
  std::string cpu = {};                    // target CPU; empty: the CPU of this machine
  std::string cache_dir = {};              // folder that caches compiled code for later runs; empty: no cache
  PipelineOptions passes = {};
  // An observer needs the value of every instruction, so no passes run and each op is compiled separately.
  bool per_instruction = false;
  std::function<void(const std::string& stage)> progress = {};  // called at the start of each stage; may be empty
  std::stop_token cancel = {};  // stops the compilation before its next stage with an error of rule kRunCancelled
};

class Executable {
 public:
  // The module must be verified, and must not change as long as the executable exists. Fails with the rule
  // kNoCodeGenerator if the code generator cannot be loaded; Engine::kInterpreter does not need it.
  static Result<std::shared_ptr<const Executable>> Compile(std::shared_ptr<const Module> module,
                                                           const CompileOptions& options);

  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Runs arguments[device][parameter]. Arguments are only read, except for donated ones. Sets the numerics of `settings`.
  Result<RunOutcome> Run(std::vector<std::vector<Value>> arguments, RunSettings settings) const;

  const Module& module() const { return *module_; }
  // The module whose instructions run and are observed: after the passes, or `module()` itself.
  const Module& running_module() const { return plan_->module(); }
  const Program* program() const { return program_.get(); }  // null: interpreted
  const DeviceGrid& grid() const { return grid_; }
  double compile_seconds() const { return compile_seconds_; }
  // Problems from which compilation recovered, as sentences, such as a corrupt cache entry or a full disk.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Executable(std::shared_ptr<const Module> module, const CompileOptions& options)
      : module_(std::move(module)), grid_(options.grid), numerics_(options.numerics) {}
  Status CompileProgram(const CompileOptions& options);

  std::shared_ptr<const Module> module_;
  DeviceGrid grid_;
  Numerics numerics_;
  std::unique_ptr<const Program> program_;
  std::unique_ptr<const CompiledKernels> code_;
  std::unique_ptr<const ModulePlan> plan_;
  double compile_seconds_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace shoal::internal
