#include "cli/commands/compare.h"

#include "cli/commands/base.h"
#include "cli/commands/interrupt.h"
#include "shoal/diff.h"

namespace shoal::cli {
namespace {

class CompareSession {
 public:
  explicit CompareSession(const CompareFlags& flags) : flags_(flags) {}

  int Run() {
    if (const Status joined = job_.Join(flags_.job); !joined.ok()) return Failed(joined.error());
    Module modules[2];
    for (auto [module, file] : {std::pair(&modules[0], &flags_.a), std::pair(&modules[1], &flags_.b)}) {
      const Result<Module> read = ReadRunnable(*file);
      if (const Status agree = job_.CheckInputsAgree(*file, read); !agree.ok()) return Failed(agree.error());
      if (!read.ok()) return Failed(read.error());
      *module = *read;
    }
    ProgressLine inputs("generating inputs"), compiling("compiling"), running("running");
    Result<CompareOptions> options = Options(inputs, compiling, running);
    if (!options.ok()) return Failed(options.error());
    SetActivity(StrCat("comparing ", flags_.a, " with ", flags_.b));
    const Result<Comparison> comparison = Compare(modules[0], modules[1], *options);
    for (ProgressLine* line : {&inputs, &compiling, &running}) line->Clear();
    if (!comparison.ok()) return Failed(comparison.error());
    return job_.AgreeOnExit(job_.is_root() ? Print(*comparison) : kOk);
  }

 private:
  Result<CompareOptions> Options(ProgressLine& inputs, ProgressLine& compiling, ProgressLine& running) const {
    const Result<InputOptions> input_options = InputOptionsOf(flags_.inputs, flags_.limits, inputs);
    if (!input_options.ok()) return input_options.error();
    CompareOptions options{.inputs = *input_options};
    if (!flags_.inputs.shardings_from.empty()) {
      Result<Module> shardings = ReadModule(flags_.inputs.shardings_from, {.strict = true});
      if (!shardings.ok()) return shardings.error();
      options.shardings_from = std::move(*shardings);
    }
    options.atol = flags_.abs_error_bound;
    options.rtol = flags_.rel_error_bound;
    options.compile = CompileOptionsOf(flags_.engine, job_.job(), compiling);
    options.compile.num_replicas = flags_.num_replicas;
    options.compile.num_partitions = flags_.num_partitions;
    options.execute = ExecuteOptionsOf(flags_.limits, running);
    options.execute.random_seed = flags_.inputs.random_seed;
    options.execute.stub_custom_calls = flags_.stub_custom_calls;
    return options;
  }

  int Print(const Comparison& comparison) const {
    const int status = WriteText(TextOf(comparison, flags_.common));
    return status == kOk && !comparison.agrees ? kInputError : status;
  }

  int Failed(const Error& error) const {
    job_.AbortIfOutOfMemory(error);
    return Fail(error, flags_.common);
  }

  const CompareFlags& flags_;
  JobContext job_;  // declared first, so that it is destroyed last
};

}  // namespace

int CompareCommand(const CompareFlags& flags) { return CompareSession(flags).Run(); }

}  // namespace shoal::cli
