#include "execute/runtime/executable.h"

#include <chrono>

#include "compile/codegen/object_cache.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "execute/runtime/thunks.h"

namespace shoal::internal {

Executable::~Executable() = default;

Result<std::unique_ptr<Executable>> Executable::Compile(const Module& module, const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::unique_ptr<Executable> executable(new Executable(options.threads));
  const auto begin_stage = [&](const std::string& stage) {
    if (options.progress) options.progress(stage);
  };
  begin_stage("passes");
  std::unique_ptr<Module> copy = CloneModule(module);
  PipelineOptions passes = options.passes;
  passes.context.evaluate = EvaluateConstantModule;
  if (!options.per_instruction) SHOAL_TRY(RunPipeline(*copy, EnginePipeline(), passes));
  begin_stage("loops");
  const auto granularity = options.per_instruction ? LoweringGranularity::kOps : LoweringGranularity::kFused;
  executable->program_ = Lower(std::move(copy), granularity);
  Program& program = executable->program_;

  // First all kernels, or their partial kernels if they are split. Then the combining kernels of split kernels.
  std::vector<FusedKernel>& all = executable->kernels_;
  std::vector<size_t> combine_index(program.kernels.size(), SIZE_MAX);
  std::vector<FusedKernel> combines;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    std::optional<SplitReductionKernels> split = SplitReduction(program.kernels[i]);
    if (split) combine_index[i] = program.kernels.size() + combines.size();
    if (split) combines.push_back(std::move(split->combine));
    all.push_back(split ? std::move(split->partial) : program.kernels[i]);
  }
  all.insert(all.end(), std::make_move_iterator(combines.begin()), std::make_move_iterator(combines.end()));
  // Identical routines share their code.
  std::vector<const Routine*> routines;
  std::vector<size_t> routine_code;
  std::unordered_map<std::string, size_t> indices;
  for (const auto& routine : program.routines) {
    const auto [entry, is_new] = indices.try_emplace(ToString(*routine), routines.size());
    if (is_new) routines.push_back(routine.get());
    routine_code.push_back(entry->second);
  }
  // Validates a requested CPU even if there is nothing to compile.
  if (!all.empty() || !routines.empty() || !options.cpu.empty()) {
    begin_stage(StrCat("compiling ", all.size() + routines.size(), " kernels"));
    SHOAL_ASSIGN(generator, LoadCodeGenerator());
    ObjectCache cache(options.cache_dir);
    ThreadPool& pool = executable->pool_;
    const CodeOptions code_options{options.cpu, options.cache_dir.empty() ? nullptr : &cache,
                                   [&](int64_t count, const auto& task) { pool.Run(count, task); }, pool.threads()};
    SHOAL_ASSIGN(code, generator->Compile(all, routines, code_options));
    executable->code_ = std::move(code);
    cache.Trim();
    executable->warnings_ = cache.TakeWarnings();
  }
  auto loaded = [&](size_t i) {
    return i == SIZE_MAX ? LoadedKernel() : LoadedKernel{&all[i], executable->code_->code(i)};
  };
  for (const auto& [hlo, step] : program.steps) {
    if (step.kind == LoweredInstruction::Kind::kKernel) {
      std::vector<LoadedKernel> kernels{loaded(step.kernel)};
      for (size_t part : step.part_kernels) kernels.push_back(loaded(part));
      executable->thunks_[hlo] = NewKernelThunk(*hlo, kernels, loaded(combine_index[step.kernel]), executable->pool_);
    } else if (step.kind == LoweredInstruction::Kind::kRoutine) {
      const RoutineCode code = executable->code_->routine(routine_code[step.kernel]);
      executable->thunks_[hlo] = NewLoopThunk(*program.routines[step.kernel], code, executable->pool_);
    } else if (step.kind == LoweredInstruction::Kind::kSequence) {
      const Sequence& sequence = program.sequences[step.kernel];
      std::vector<KernelCode> codes;
      for (size_t kernel : sequence.kernels) codes.push_back(executable->code_->code(kernel));
      executable->thunks_[hlo] = NewSequenceThunk(*sequence.routine, codes);
    } else if (step.kind == LoweredInstruction::Kind::kLibrary) {
      executable->thunks_[hlo] = NewLibraryThunk(*hlo, step.library, executable->pool_);
    }
  }
  for (const auto& [hlo, thunk] : executable->thunks_)
    SetAttr(*const_cast<Instruction*>(hlo), *program.module, kThunk, reinterpret_cast<int64_t>(thunk.get()));
  for (const Computation* computation : program.module->computations)
    for (Instruction* hlo : computation->instructions)
      if (Info(hlo->opcode).op_class == OpClass::kCollective || hlo == program.module->entry->root)
        SetAttr(*hlo, *program.module, kThreadPool, reinterpret_cast<int64_t>(&executable->pool_));
  executable->plans_ = std::make_unique<ModulePlan>(*program.module);
  executable->compile_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  return executable;
}

}  // namespace shoal::internal
