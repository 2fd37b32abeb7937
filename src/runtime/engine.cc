#include "runtime/engine.h"

#include <chrono>

#include "base/strings.h"
#include "ir/rewrite.h"
#include "runtime/steps.h"

namespace shoal {

Result<std::unique_ptr<Engine>> Engine::Compile(const Module& module, const EngineOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::unique_ptr<Engine> engine(new Engine(options.threads));
  engine->source_ = &module;
  const auto begin_stage = [&](const std::string& stage) {
    if (options.progress) options.progress(stage);
  };
  begin_stage("passes");
  std::unique_ptr<Module> copy = CloneModule(module);
  SHOAL_TRY(RunPipeline(*copy, EnginePipeline(), options.passes));
  begin_stage("loops");
  engine->program_ = Lower(std::move(copy));
  Program& program = engine->program_;

  // The kernels of the program, then those that combine pieces of rows.
  std::vector<FusedKernel> all = program.kernels;
  std::vector<size_t> combining(all.size(), SIZE_MAX);
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    std::unique_ptr<FusedKernel> combine = CombiningKernel(program.kernels[i]);
    if (combine == nullptr) continue;
    combining[i] = all.size();
    all.push_back(std::move(*combine));
  }
  if (!all.empty()) {
    begin_stage(StrCat("code of ", all.size(), " kernels"));
    SHOAL_ASSIGN(generator, LoadCodeGenerator());
    ObjectCache cache(options.cache_dir);
    SHOAL_ASSIGN(code, generator->Compile(all, {options.cpu, options.cache_dir.empty() ? nullptr : &cache}, engine->pool_));
    engine->code_ = std::move(code);
    cache.Trim();
    engine->warnings_ = cache.TakeWarnings();
  }
  for (const auto& [hlo, step] : program.steps) {
    if (step.kind == ProgramStep::Kind::kKernel) {
      const size_t combine = combining[step.kernel];
      engine->steps_[hlo] =
          NewKernelStep(*hlo, program.kernels[step.kernel], engine->code_->code(step.kernel),
                        combine == SIZE_MAX ? nullptr : engine->code_->code(combine), engine->pool_);
    } else if (step.kind == ProgramStep::Kind::kLibrary) {
      engine->steps_[hlo] = NewLibraryStep(step.library, engine->pool_);
    }
  }
  for (const auto& [hlo, step] : engine->steps_)
    SetAttr(*const_cast<Instruction*>(hlo), *program.module, kCompiledStep, reinterpret_cast<int64_t>(step.get()));
  for (const Computation* computation : program.module->computations)
    for (Instruction* hlo : computation->instructions)
      if (Info(hlo->opcode).op_class == OpClass::kCollective)
        SetAttr(*hlo, *program.module, kEnginePool, reinterpret_cast<int64_t>(&engine->pool_));
  engine->plans_ = std::make_unique<Plans>(*program.module);
  engine->compile_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  return engine;
}

}  // namespace shoal
