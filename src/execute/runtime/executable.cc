#include "execute/runtime/executable.h"

#include <chrono>
#include <utility>

#include "compile/codegen/object_cache.h"
#include "core/base/strings.h"
#include "core/base/task_log.h"
#include "core/base/threads.h"
#include "core/ir/rewrite.h"
#include "execute/runtime/pass_context.h"
#include "execute/runtime/thunks.h"

namespace shoal::internal {
namespace {

Status BeginStage(const CompileOptions& options, const std::string& stage) {
  if (options.cancel.stop_requested()) return Fail({}, kRunCancelled, "the compilation was cancelled");
  if (options.progress) options.progress(stage);
  return {};
}

// What the code generator compiles for a program.
struct CodeUnits {
  // All kernels, or their partial kernels if they are split. Then the combining kernels of split kernels.
  std::vector<FusedKernel> kernels;
  std::vector<size_t> combine_index;  // for each kernel of the program, its combining kernel; SIZE_MAX: none
  std::vector<const Routine*> routines;  // identical routines share their code
  std::vector<size_t> routine_code;      // for each routine of the program, its index in `routines`
};

CodeUnits CodeUnitsOf(const Program& program) {
  CodeUnits units;
  units.combine_index.assign(program.kernels.size(), SIZE_MAX);
  std::vector<FusedKernel> combines;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    std::optional<SplitReductionKernels> split = SplitReduction(program.kernels[i]);
    if (split) units.combine_index[i] = program.kernels.size() + combines.size();
    if (split) combines.push_back(std::move(split->combine));
    units.kernels.push_back(split ? std::move(split->partial) : program.kernels[i]);
  }
  units.kernels.insert(units.kernels.end(), std::make_move_iterator(combines.begin()),
                       std::make_move_iterator(combines.end()));
  for (FusedKernel& kernel : units.kernels) SplitIntoTasks(kernel);
  std::unordered_map<std::string, size_t> indices;
  for (const auto& routine : program.routines) {
    const auto [entry, is_new] = indices.try_emplace(ToString(*routine), units.routines.size());
    if (is_new) units.routines.push_back(routine.get());
    units.routine_code.push_back(entry->second);
  }
  return units;
}

Result<std::unique_ptr<CompiledKernels>> GenerateCode(const CodeUnits& units, const CompileOptions& options,
                                                      std::vector<std::string>& warnings) {
  const size_t count = units.kernels.size() + units.routines.size();
  // Validates a requested CPU even if there is nothing to compile.
  if (count == 0 && options.cpu.empty()) return std::unique_ptr<CompiledKernels>();
  SHOAL_TRY(BeginStage(options, StrCat("compiling ", count, " kernels")));
  SHOAL_ASSIGN(generator, LoadCodeGenerator());
  ObjectCache cache(options.cache_dir);
  std::optional<ThreadPool> one_thread;
  ThreadPool& pool = options.pool != nullptr ? *options.pool : one_thread.emplace(1);
  const CodeOptions code_options{options.cpu, options.cache_dir.empty() ? nullptr : &cache,
                                 [&](int64_t tasks, const auto& task) { pool.Run(tasks, task); }, pool.threads()};
  SHOAL_ASSIGN(code, generator->Compile(units.kernels, units.routines, code_options));
  cache.Trim();
  warnings = cache.TakeWarnings();
  return std::move(code);
}

Thunks MakeThunks(const Program& program, const CodeUnits& units, const CompiledKernels* code) {
  Thunks thunks;
  auto loaded = [&](size_t i) { return i == SIZE_MAX ? LoadedKernel() : LoadedKernel{&units.kernels[i], code->code(i)}; };
  auto library = [&](const Instruction& hlo) {
    const LoweredInstruction& step = program.StepOf(hlo);
    if (step.kind != LoweredInstruction::Kind::kLibrary) return LoadedLibrary();
    if (step.library != nullptr) return LoadedLibrary{step.library, nullptr, nullptr, PreparedFunctionOf(hlo)};
    return LoadedLibrary{nullptr, step.applied_library, code->code(step.kernel), nullptr};
  };
  // In routines, the interpreter evaluates contractions whose sums depend on the numerics of the run.
  auto evaluated_library = [&](const Routine& routine) {
    std::vector<LoadedLibrary> all;
    for (const Instruction* hlo : routine.evaluated) all.push_back(SumsNarrowFloats(*hlo) ? LoadedLibrary() : library(*hlo));
    return all;
  };
  auto function = [&](size_t i) {
    return LoadedFunction{code->routine(units.routine_code[i]), evaluated_library(*program.routines[i])};
  };
  for (const auto& [hlo, step] : program.steps) {
    if (step.kind == LoweredInstruction::Kind::kKernel) {
      std::vector<LoadedKernel> kernels{loaded(step.kernel)};
      for (size_t part : step.part_kernels) kernels.push_back(loaded(part));
      thunks[hlo] = NewKernelThunk(*hlo, kernels, loaded(units.combine_index[step.kernel]));
    } else if (step.kind == LoweredInstruction::Kind::kRoutine) {
      thunks[hlo] = NewLoopThunk(*program.routines[step.kernel], function(step.kernel));
    } else if (step.kind == LoweredInstruction::Kind::kSequence) {
      const Sequence& sequence = program.sequences[step.kernel];
      LoadedSequence parts;
      for (size_t kernel : sequence.kernels) parts.kernels.push_back(loaded(kernel));
      for (size_t number : sequence.functions) parts.functions.push_back(function(number));
      parts.library = evaluated_library(*sequence.routine);
      thunks[hlo] = NewSequenceThunk(*sequence.routine, std::move(parts));
    } else if (step.kind == LoweredInstruction::Kind::kLibrary) {
      thunks[hlo] = NewLibraryThunk(*hlo, library(*hlo));
    }
  }
  return thunks;
}

}  // namespace

Result<std::shared_ptr<const Executable>> Executable::Compile(std::shared_ptr<const Module> module,
                                                              const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::shared_ptr<Executable> executable(new Executable(std::move(module), options));
  if (options.engine == Engine::kCompiled) {
    SHOAL_TRY(executable->CompileProgram(options));
  } else {
    executable->plan_ = std::make_unique<ModulePlan>(executable->module_);
  }
  executable->compile_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  return std::shared_ptr<const Executable>(std::move(executable));
}

Status Executable::CompileProgram(const CompileOptions& options) {
  SHOAL_TRY(BeginStage(options, "passes"));
  std::unique_ptr<Module> copy = CloneModule(*module_);
  PipelineOptions passes = options.passes;
  passes.context = EnginePassContext();
  passes.context.grid = grid_;
  KernelCache kernels;
  passes.context.kernels = &kernels;
  std::vector<Refusal> refusals;
  passes.context.on_refusal = [&](const Instruction& root, std::string_view reason) {
    refusals.push_back({std::string(root.name), reason});
  };
  if (!options.per_instruction) SHOAL_TRY(RunPipeline(*copy, EnginePipeline(), passes));
  SHOAL_TRY(BeginStage(options, "loops"));
  // The copy shares names and literals with the module and keeps it alive.
  std::shared_ptr<Module> running(copy.release(), [original = module_](Module* module) { delete module; });
  const auto granularity = options.per_instruction ? LoweringGranularity::kOps : LoweringGranularity::kFused;
  Program program = Lower(running, granularity, kernels);
  program.refusals.insert(program.refusals.begin(), refusals.begin(), refusals.end());
  program_ = std::make_unique<const Program>(std::move(program));
  const CodeUnits units = CodeUnitsOf(*program_);
  SHOAL_ASSIGN(code, GenerateCode(units, options, warnings_));
  code_ = std::move(code);
  plan_ = std::make_unique<const ModulePlan>(std::move(running), MakeThunks(*program_, units, code_.get()));
  return {};
}

Result<RunOutcome> Executable::Run(std::vector<std::vector<Value>> arguments, RunSettings settings) const {
  settings.numerics = numerics_;
  settings.times_fallbacks = program_ != nullptr;
  const TaskLog::RunRecord record;
  return RunPlan(*plan_, grid_, std::move(arguments), std::move(settings));
}

}  // namespace shoal::internal
