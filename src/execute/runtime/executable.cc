#include "execute/runtime/executable.h"

#include <chrono>

#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "execute/runtime/thunks.h"

namespace shoal::internal {

Executable::~Executable() = default;

Result<std::unique_ptr<Executable>> Executable::Compile(const Module& module, const EngineOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::unique_ptr<Executable> engine(new Executable(options.threads));
  const auto begin_stage = [&](const std::string& stage) {
    if (options.progress) options.progress(stage);
  };
  begin_stage("passes");
  std::unique_ptr<Module> copy = CloneModule(module);
  PipelineOptions passes = options.passes;
  passes.context.evaluate = EvaluateConstantModule;
  if (!options.per_instruction) SHOAL_TRY(RunPipeline(*copy, EnginePipeline(), passes));
  begin_stage("loops");
  engine->program_ = Lower(std::move(copy), options.per_instruction ? LoweringGranularity::kOps : LoweringGranularity::kFused);
  Program& program = engine->program_;

  // Of each kernel the first that runs, then the second ones of those that are cut.
  std::vector<FusedKernel>& all = engine->launched_;
  std::vector<size_t> second(program.kernels.size(), SIZE_MAX);
  std::vector<FusedKernel> seconds;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    std::optional<SplitReductionKernels> cut = SplitReduction(program.kernels[i]);
    if (cut) second[i] = program.kernels.size() + seconds.size();
    if (cut) seconds.push_back(std::move(cut->combine));
    all.push_back(cut ? std::move(cut->partial) : program.kernels[i]);
  }
  all.insert(all.end(), std::make_move_iterator(seconds.begin()), std::make_move_iterator(seconds.end()));
  // Equal routines have one code.
  std::vector<const Routine*> routines;
  std::vector<size_t> routine_code;
  std::unordered_map<std::string, size_t> known;
  for (const auto& routine : program.routines) {
    const auto [same, is_new] = known.try_emplace(ToString(*routine), routines.size());
    if (is_new) routines.push_back(routine.get());
    routine_code.push_back(same->second);
  }
  // A CPU that was asked for is looked at even where there is nothing to compile.
  if (!all.empty() || !routines.empty() || !options.cpu.empty()) {
    begin_stage(StrCat("code of ", all.size() + routines.size(), " kernels"));
    SHOAL_ASSIGN(generator, LoadCodeGenerator());
    ObjectCache cache(options.cache_dir);
    const CodeOptions code_options{options.cpu, options.cache_dir.empty() ? nullptr : &cache};
    SHOAL_ASSIGN(code, generator->Compile(all, routines, code_options, engine->pool_));
    engine->code_ = std::move(code);
    cache.Trim();
    engine->warnings_ = cache.TakeWarnings();
  }
  auto launched = [&](size_t i) {
    return i == SIZE_MAX ? LoadedKernel() : LoadedKernel{&all[i], engine->code_->code(i)};
  };
  for (const auto& [hlo, step] : program.steps) {
    if (step.kind == LoweredInstruction::Kind::kKernel) {
      std::vector<LoadedKernel> kernels{launched(step.kernel)};
      for (size_t piece : step.pieces) kernels.push_back(launched(piece));
      engine->steps_[hlo] = NewKernelStep(*hlo, kernels, launched(second[step.kernel]), engine->pool_);
    } else if (step.kind == LoweredInstruction::Kind::kRoutine) {
      engine->steps_[hlo] = NewRoutineStep(*program.routines[step.kernel], engine->code_->routine(routine_code[step.kernel]), engine->pool_);
    } else if (step.kind == LoweredInstruction::Kind::kSequence) {
      const Sequence& sequence = program.sequences[step.kernel];
      std::vector<KernelCode> codes;
      for (size_t kernel : sequence.kernels) codes.push_back(engine->code_->code(kernel));
      engine->steps_[hlo] = NewSequenceStep(*sequence.routine, codes);
    } else if (step.kind == LoweredInstruction::Kind::kLibrary) {
      engine->steps_[hlo] = NewLibraryStep(*hlo, step.library, engine->pool_);
    }
  }
  for (const auto& [hlo, step] : engine->steps_)
    SetAttr(*const_cast<Instruction*>(hlo), *program.module, kThunk, reinterpret_cast<int64_t>(step.get()));
  for (const Computation* computation : program.module->computations)
    for (Instruction* hlo : computation->instructions)
      if (Info(hlo->opcode).op_class == OpClass::kCollective || hlo == program.module->entry->root)
        SetAttr(*hlo, *program.module, kThreadPool, reinterpret_cast<int64_t>(&engine->pool_));
  engine->plans_ = std::make_unique<ModulePlan>(*program.module);
  engine->compile_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  return engine;
}

}  // namespace shoal::internal
