// Lowers modules for the engine, without generating code, and checks that every step of at least 10,000 elements that the
// interpreter would evaluate is in the list of known ones. Each module is a test.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "CLI/CLI.hpp"
#include "compile/program/evaluation_reason.h"
#include "compile/program/program.h"
#include "core/base/diags.h"
#include "core/base/source.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/element_work.h"
#include "core/verify/verify.h"
#include "execute/interp/run.h"
#include "formats/text/parser.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLarge = 10'000;

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Elements of the largest array that the step reads or writes.
int64_t LargestArray(const Instruction& hlo) {
  int64_t largest = 0;
  auto look = [&](const Shape& shape) {
    for (const Shape* leaf : LeafShapes(shape)) largest = std::max(largest, leaf->ElementCount().value_or(0));
  };
  look(hlo.shape());
  for (const Instruction* operand : hlo.operands) look(operand->shape());
  return largest;
}

// "reduce: rounds to bf16 at each step", for each kind of fallback the first instruction.
using Fallbacks = std::map<std::string, std::string>;

struct Checked {
  bool is_valid = false;
  int64_t steps = 0;
  Fallbacks fallbacks;
};

Checked Check(const fs::path& path) {
  Checked checked;
  Diags diags;
  std::unique_ptr<Source> source = Source::FromString(path.string(), Slurp(path));
  std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  if (module == nullptr || diags.errors() > 0) return checked;
  Verify(*module, diags);
  if (diags.errors() > 0) return checked;
  std::shared_ptr<Module> copy = CloneModule(*module);
  PipelineOptions options;
  options.context.evaluate = EvaluateConstantModule;
  if (!RunPipeline(*copy, EnginePipeline(), options).ok()) return checked;
  KernelCache kernels;
  const Program program = Lower(copy, LoweringGranularity::kFused, kernels);
  checked.is_valid = true;
  for (const Instruction* hlo : StepsOf(program)) {
    ++checked.steps;
    if (program.StepOf(*hlo).kind != LoweredInstruction::Kind::kEvaluate || !HasElementWork(*hlo)) continue;
    if (LargestArray(*hlo) < kLarge) continue;
    const std::string reason = EvaluationReason(*hlo);
    checked.fallbacks.try_emplace(StrCat(Text(hlo->opcode), ": ", reason), std::string(hlo->name));
  }
  return checked;
}

// The lines of the list up to " # ". '*' stands for any text, such as the name of an instruction.
std::vector<std::string> KnownFallbacks(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> known;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') known.push_back(line.substr(0, line.find(" # ")));
  return known;
}

bool Matches(const std::string& pattern, const std::string& text) {
  const size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == text;
  return text.starts_with(pattern.substr(0, star)) && text.ends_with(pattern.substr(star + 1));
}

int Main(int argc, char** argv) {
  CLI::App app("Lists the large steps of modules for which the engine has no code.");
  std::vector<std::string> folders;
  std::string known_file;
  int64_t jobs = 2, max_bytes = 400'000;
  app.add_option("folders", folders, "Folders with .hlo files")->required();
  app.add_option("--known", known_file, "The list of known fallbacks")->required();
  app.add_option("--jobs", jobs, "Threads");
  app.add_option("--max_bytes", max_bytes, "Skip larger files");
  CLI11_PARSE(app, argc, argv);

  std::vector<fs::path> files;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".hlo" && entry.file_size() <= static_cast<uintmax_t>(max_bytes)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const std::vector<std::string> known = KnownFallbacks(known_file);

  std::atomic<size_t> next = 0;
  std::mutex mutex;
  int64_t passed = 0, failed = 0, steps = 0, skipped = 0;
  std::map<std::string, int64_t> counts;
  std::vector<std::thread> threads;
  for (int64_t j = 0; j < jobs; ++j)
    threads.emplace_back([&] {
      for (size_t i = next++; i < files.size(); i = next++) {
        const Checked checked = Check(files[i]);
        std::lock_guard lock(mutex);
        if (!checked.is_valid) {
          ++skipped;
          continue;
        }
        steps += checked.steps;
        bool good = true;
        for (const auto& [what, name] : checked.fallbacks) {
          ++counts[what];
          if (std::any_of(known.begin(), known.end(), [&](const std::string& pattern) { return Matches(pattern, what); })) continue;
          good = false;
          std::printf("FAILED %s: %s is evaluated: %s\n", files[i].c_str(), name.c_str(), what.c_str());
        }
        good ? ++passed : ++failed;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& [what, count] : counts) std::printf("%5ld modules  %s\n", count, what.c_str());
  std::printf("%ld steps; %ld files are no valid modules\n%ld passed, %ld failed\n", steps, skipped, passed, failed);
  return failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace shoal::internal

int main(int argc, char** argv) { return shoal::internal::Main(argc, argv); }
