#include "api/cpp/execute_state.h"
#include "api/cpp/public_shape.h"
#include "core/base/environment_error.h"
#include "core/base/strings.h"
#include "core/base/threads.h"
#include "execute/interp/memory_preflight.h"
#include "execute/runtime/run_warnings.h"

namespace shoal::internal {
namespace {

using CompileFlags = shoal::CompileOptions;

std::string CheckOptions(const CompileFlags& options) {
  if (options.threads < 0 || options.threads > 1024) return StrCat("threads must be between 0 and 1024, got ", options.threads);
  for (const std::optional<int64_t>& count : {options.num_replicas, options.num_partitions})
    if (count && (*count < 1 || *count > kMaxRunDevices))
      return StrCat("the number of replicas and partitions must be between 1 and ", kMaxRunDevices, ", got ", *count);
  if (options.engine > shoal::Engine::kInterpreter) return "unknown engine";
  return options.numerics > shoal::Numerics::kWide ? "unknown numerics" : "";
}

// Compiles the module, or prepares it for the interpreter.
Status AddExecutable(const CompileFlags& options, ExecutableState& state) {
  const Module& module = state.module->module();
  state.mixed = FindMixedFloats(module);
  if (const ElidedLiterals elided = FindElidedLiterals(module); elided.count > 0) {
    if (!options.fill_elided) return ElidedLiteralsError(elided);
    state.diags.Add(ElidedWarning(elided));
  }
  CompileOptions compile;
  compile.engine = options.engine == shoal::Engine::kJit ? Engine::kCompiled : Engine::kInterpreter;
  compile.grid = state.devices.grid;
  compile.numerics = state.numerics.numerics;
  compile.pool = state.pool.get();
  compile.cpu = options.cpu;
  compile.cache_dir = options.cache_dir;
  compile.cancel = options.stop;
  compile.per_instruction = options.observable;
  if (options.progress) compile.progress = [&](const std::string& stage) { options.progress(stage); };
  const std::shared_ptr<const Module> shared(state.module, &module);
  Result<std::shared_ptr<const Executable>> executable = Executable::Compile(shared, compile);
  if (!executable.ok() && executable.diag().rule == kNoCodeGenerator) {
    state.warnings.push_back(StrCat(executable.diag().message, "; using the interpreter instead"));
    compile.engine = Engine::kInterpreter;
    executable = Executable::Compile(shared, compile);
  }
  if (!executable.ok()) return std::move(executable.diag());
  state.executable = std::move(*executable);
  state.is_observable = options.observable || state.executable->program() == nullptr;
  for (const std::string& warning : state.executable->warnings()) state.warnings.push_back(warning);
  return {};
}

shoal::Result<shoal::Executable> CompileVerified(ModuleHandle module, const CompileFlags& options) {
  auto state = std::make_shared<ExecutableState>();
  state->module = std::move(module);
  const Module& hlo = state->module->module();
  state->devices = InferDevices(hlo, options.num_replicas, options.num_partitions);
  if (Status fits = CheckRunnable(hlo, state->devices); !fits.ok()) return state->module->MakeError(fits.diag());
  if (Status fits = CheckConstantMemory(hlo); !fits.ok()) return state->module->MakeError(fits.diag());
  state->numerics = options.numerics == shoal::Numerics::kInferred
                        ? InferNumerics(hlo)
                        : NumericsChoice{static_cast<Numerics>(static_cast<int>(options.numerics) - 1), "given"};
  const int threads = options.threads == 0 && !options.job.empty() ? options.job.cores() : options.threads;
  state->pool = options.pool ? options.pool->state() : std::make_shared<ThreadPool>(threads);
  if (threads > 0 && state->pool->lacks_threads()) return state->module->MakeError(ThreadCreationError());
  state->job = options.job;
  if (!options.job.empty()) {
    Result<Placement> placement = options.job.state()->Place(state->devices.grid.count());
    if (!placement.ok()) return state->module->MakeError(placement.diag());
    state->placement_in_job = std::move(*placement);
  }
  if (Status added = AddExecutable(options, *state); !added.ok()) return state->module->MakeError(added.diag());
  state->parameters = ParameterLeaves(hlo);
  state->results = ResultLeaves(hlo);
  return shoal::Executable(std::move(state));
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {
namespace {

std::vector<Shape> ShapesOf(const std::vector<internal::Leaf>& leaves) {
  std::vector<Shape> shapes;
  for (const internal::Leaf& leaf : leaves) shapes.push_back(internal::PublicShape(*leaf.shape));
  return shapes;
}

}  // namespace

Result<Executable> Compile(const Module& module, const CompileOptions& options) {
  if (module.empty()) return internal::NoModuleError();
  if (const std::string wrong = internal::CheckOptions(options); !wrong.empty()) return internal::ArgumentError(wrong);
  return internal::Guarded([&]() -> Result<Executable> {
    Result<internal::ModuleHandle> runnable = internal::RunnableModule(module.state());
    if (!runnable.ok()) return runnable.error();
    return internal::CompileVerified(std::move(*runnable), options);
  });
}

Module Executable::module() const { return Module(state_->module); }
int64_t Executable::num_devices() const { return state_->devices.grid.count(); }
int64_t Executable::num_local_devices() const { return state_->LocalDevices(); }
int64_t Executable::num_replicas() const { return state_->devices.grid.replicas; }
int64_t Executable::num_partitions() const { return state_->devices.grid.partitions; }
Engine Executable::engine() const { return state_->is_compiled() ? Engine::kJit : Engine::kInterpreter; }
Numerics Executable::numerics() const { return static_cast<Numerics>(static_cast<int>(state_->numerics.numerics) + 1); }
std::vector<Shape> Executable::argument_shapes() const { return ShapesOf(state_->parameters); }
std::vector<Shape> Executable::result_shapes() const { return ShapesOf(state_->results); }
double Executable::compile_seconds() const { return state_->compile_seconds(); }
std::vector<std::string> Executable::warnings() const { return state_->warnings; }
std::string Executable::WarningText(const DiagStyle& style) const {
  return internal::LocatedDiags{state_->diags, state_->module->file.path, state_->module->text()}.ToText(style);
}
std::shared_ptr<void> PrefetchCodeGenerator() { return std::make_shared<std::jthread>(internal::PrefetchCodeGenerator()); }
std::vector<std::string> NumericsNames() { return {std::begin(internal::kNumerics), std::end(internal::kNumerics)}; }
std::string Executable::Explain() const { return state_->is_compiled() ? ToString(*state_->executable->program()) : ""; }

}  // namespace shoal::inline v0_1
