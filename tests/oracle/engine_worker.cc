// Runs modules for engines.py with the interpreter and the engine, in one process, so that thousands take seconds.
//
// Each line of standard input is a job and gets one line of output.
//   both FOLDER    runs FOLDER/module.hlo on FOLDER/in, with the interpreter and with the engine on 1, 2, 5 and 16 threads.
//                  "same": identical bits. "differ": engine and interpreter differ; their results are in FOLDER/interp
//                  and FOLDER/jit. "threads: …": the result depends on the number of threads. "refused: …": both
//                  engines reject the module. "error: …": anything else.
//   effects FOLDER    runs FOLDER/module.hlo on FOLDER/in with both engines, of which neither or both must refuse it, and
//                  with the same message: "same" or "effects: …".
//   interp FOLDER IN OUT    runs FOLDER/module.hlo on the arrays of IN with the interpreter, results to OUT: "done" or
//                  "error: …"
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/base/diags.h"
#include "core/base/strings.h"
#include "analyze/facts/infer_devices.h"
#include "execute/data/inputs.h"
#include "execute/data/outputs.h"
#include "execute/runtime/executable.h"
#include "formats/text/parser.h"
#include "core/verify/verify.h"

namespace shoal::internal {
namespace {

struct Job {
  std::shared_ptr<Module> module;
  DeviceGrid grid;
  Arguments arguments;
};

Result<Job> ReadJob(const std::string& folder, const std::string& inputs) {
  std::ifstream file(folder + "/module.hlo");
  std::stringstream text;
  text << file.rdbuf();
  std::unique_ptr<Source> source = Source::FromString("module.hlo", text.str());
  Diags diags;
  Job job;
  job.module = ParseModule(source, {/*strict=*/true}, diags);
  if (job.module != nullptr) Verify(*job.module, diags);
  if (diags.errors() > 0) return Diag(diags.found()[0]);
  job.grid = InferDevices(*job.module).grid;
  SHOAL_ASSIGN(arguments, ReadArguments(*job.module, job.grid, inputs));
  job.arguments = std::move(arguments);
  return job;
}

RunSettings Settings() {
  RunSettings settings;
  settings.max_instructions = 200'000;
  return settings;
}

bool IdenticalBits(const RunOutcome& a, const RunOutcome& b) {
  for (size_t d = 0; d < a.results.size(); ++d) {
    std::vector<Value> x, y;
    AppendLeaves(a.results[d], x);
    AppendLeaves(b.results[d], y);
    if (x.size() != y.size()) return false;
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k].IsArray() != y[k].IsArray()) return false;
      if (!x[k].IsArray()) continue;
      const Array &p = x[k].array(), &q = y[k].array();
      if (p.type() != q.type() || p.bytes() != q.bytes()) return false;
      if (p.bytes() != 0 && std::memcmp(p.data(), q.data(), static_cast<size_t>(p.bytes())) != 0) return false;
    }
  }
  return true;
}

Result<std::string> RunBoth(const std::string& folder) {
  SHOAL_ASSIGN(job, ReadJob(folder, folder + "/in"));
  SHOAL_ASSIGN(interpreted, Executable::Compile(job.module, {.engine = Engine::kInterpreter, .grid = job.grid}));
  Result<RunOutcome> want = interpreted->Run(job.arguments, Settings());
  std::optional<RunOutcome> first;
  for (int threads : {1, 2, 5, 16}) {
    ThreadPool pool(threads);
    CompileOptions options{.grid = job.grid, .pool = &pool};
    options.passes.verify = threads == 1;
    SHOAL_ASSIGN(compiled, Executable::Compile(job.module, options));
    RunSettings settings = Settings();
    settings.pool = &pool;
    Result<RunOutcome> got = compiled->Run(job.arguments, settings);
    if (!got.ok() && !want.ok()) return StrCat("refused: ", got.diag().message);
    if (!got.ok()) return got.diag();
    if (!want.ok()) return StrCat("error: only the interpreter rejects it: ", want.diag().message);
    if (first && !IdenticalBits(*first, *got))
      return StrCat("threads: 1 and ", threads, " threads give different bits");
    if (!first) first = std::move(*got);
  }
  if (IdenticalBits(*want, *first)) return std::string("same");
  SHOAL_TRY(WriteOutputs(want->results, folder + "/interp"));
  SHOAL_TRY(WriteOutputs(first->results, folder + "/jit"));
  return std::string("differ");
}

Result<std::string> CompareRefusals(const std::string& folder) {
  SHOAL_ASSIGN(job, ReadJob(folder, folder + "/in"));
  std::vector<std::string> messages;
  for (Engine engine : {Engine::kInterpreter, Engine::kCompiled}) {
    SHOAL_ASSIGN(executable, Executable::Compile(job.module, {.engine = engine, .grid = job.grid}));
    const Result<RunOutcome> outcome = executable->Run(job.arguments, Settings());
    messages.push_back(outcome.ok() ? "no error" : outcome.diag().message);
  }
  if (messages[0] == messages[1]) return std::string("same");
  return StrCat("effects: the interpreter reports \"", messages[0], "\", the engine \"", messages[1], "\"");
}

Result<std::string> RunInterpreter(const std::string& folder, const std::string& inputs, const std::string& outputs) {
  SHOAL_ASSIGN(job, ReadJob(folder, inputs));
  SHOAL_ASSIGN(interpreted, Executable::Compile(job.module, {.engine = Engine::kInterpreter, .grid = job.grid}));
  SHOAL_ASSIGN(outcome, interpreted->Run(job.arguments, Settings()));
  SHOAL_TRY(WriteOutputs(outcome.results, outputs));
  return std::string("done");
}

void Answer(const std::string& line) {
  std::istringstream words(line);
  std::string command, folder, inputs, outputs;
  words >> command >> folder >> inputs >> outputs;
  const Result<std::string> answer = command == "both"      ? RunBoth(folder)
                                     : command == "effects" ? CompareRefusals(folder)
                                                            : RunInterpreter(folder, inputs, outputs);
  std::string text = answer.ok() ? *answer : StrCat("error: ", answer.diag().message);
  for (char& c : text)
    if (c == '\n') c = ' ';
  std::cout << text << std::endl;
}

}  // namespace
}  // namespace shoal::internal

int main() {
  for (std::string line; std::getline(std::cin, line);) shoal::internal::Answer(line);
}
