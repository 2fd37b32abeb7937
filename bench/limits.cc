// Compares the engine with upper bounds (memory copy, oneDNN, …). The two alternate in one process.
//   limits [--threads=N] [--rounds=N] [--only=TEXT] [FILE…]
// Without files: elementwise ops against copying, matmuls against oneDNN's sgemm, an all-reduce against copying its
// bytes, one run on 64 devices against 64 runs, compilation of 32 layers against 2 layers. With files: a run of each
// module against its dots and convolutions alone, in sequence and each as often as the run executes it. Times are the
// best of all rounds, because other processes can only add to them. The output also has the medians and the ratio of
// processor times. That ratio is the most reliable number on a busy machine.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <oneapi/dnnl/dnnl.h>
#include <sstream>

#include "core/base/diags.h"
#include "core/base/strings.h"
#include "analyze/facts/infer_devices.h"
#include "execute/data/generate.h"
#include "execute/interp/step_log.h"
#include "kernels/linalg/parallel_gemm.h"
#include "core/ops/families.h"
#include "execute/runtime/executable.h"
#include "formats/text/parser.h"
#include "core/verify/verify.h"

namespace shoal::internal {
namespace {

using Clock = std::chrono::steady_clock;
using Task = std::function<double()>;  // runs once; returns the measured seconds

struct Options {
  int threads = 0, rounds = 9;
  std::string only;
  std::vector<std::string> files;
};

double Timed(const std::function<void()>& task) {
  const auto start = Clock::now();
  task();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Times {
  std::vector<double> all, processor;
  void Take(const Task& task) {
    const double before = ProcessorSeconds();
    all.push_back(task());
    processor.push_back(ProcessorSeconds() - before);
  }
  double best_processor() const { return *std::min_element(processor.begin(), processor.end()); }
  double best() const { return *std::min_element(all.begin(), all.end()); }
  double median() const {
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// Alternates between the two. The ratio is shoal's work per second divided by that of the limit.
void Compare(const Options& options, const std::string& name, const std::string& limit_name, double limit_work, const Task& limit,
             double work, const Task& ours) {
  if (name.find(options.only) == std::string::npos) return;
  Times limits, times;
  limit(), ours();
  for (int i = 0; i < options.rounds; ++i) {
    limits.Take(limit);
    times.Take(ours);
  }
  const auto ratio = [&](double limit_time, double time) { return work / time / (limit_work / limit_time); };
  std::printf("%-34s %10.3f ms   %-26s %10.3f ms   %.2f of it (medians %.2f, processor %.2f)\n", name.c_str(), times.best() * 1e3,
              limit_name.c_str(), limits.best() * 1e3, ratio(limits.best(), times.best()),
              ratio(limits.median(), times.median()), ratio(limits.best_processor(), times.best_processor()));
  std::fflush(stdout);
}

struct Ready {
  std::unique_ptr<ThreadPool> pool;
  std::shared_ptr<const Executable> executable;
  Arguments arguments;

  double Run(StepLog* log = nullptr) const {
    RunSettings settings;
    settings.pool = pool.get();
    settings.observer = log;
    Result<RunOutcome> outcome = executable->Run(arguments, settings);
    if (outcome.ok()) return outcome->stats.seconds;
    std::fprintf(stderr, "%s\n", outcome.diag().message.c_str());
    std::exit(1);
  }
};

std::unique_ptr<Module> Parsed(const std::string& name, std::string text) {
  std::unique_ptr<Source> source = Source::FromString(name, std::move(text));
  Diags diags;
  std::unique_ptr<Module> module = ParseModule(source, {/*strict=*/true}, diags);
  if (module != nullptr) Verify(*module, diags);
  if (diags.errors() == 0 && module != nullptr) return module;
  std::fprintf(stderr, "%s: %s\n", name.c_str(), diags.found()[0].message.c_str());
  std::exit(1);
}

Ready Prepare(const Options& options, const std::string& name, std::string text) {
  Ready ready;
  ready.pool = std::make_unique<ThreadPool>(options.threads);
  const std::shared_ptr<const Module> module = Parsed(name, std::move(text));
  const DeviceGrid grid = InferDevices(*module).grid;
  auto compiled = Executable::Compile(module, {.grid = grid, .numerics = Numerics::kWide, .pool = ready.pool.get()});
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), compiled.diag().message.c_str());
    std::exit(1);
  }
  ready.executable = std::move(*compiled);
  ready.arguments = GenerateArguments(*module, grid, ArgumentMode::kRandom, 0);
  return ready;
}

// Copies between two blocks whose pages are resident, on the pool.
Task Copy(std::vector<char>& from, std::vector<char>& to, ThreadPool& pool) {
  return [&] {
    return Timed([&] {
      ForBlocks(pool, std::ssize(from), int64_t{1} << 20, [&](int64_t begin, int64_t end) {
        std::memcpy(to.data() + begin, from.data() + begin, static_cast<size_t>(end - begin));
      });
    });
  };
}

void LoopsAgainstCopy(const Options& options, ThreadPool& pool) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  const struct {
    const char *name, *body;
    double arrays;
  } cases[] = {
      {"x * 2 + 1", "t = f32[16777216] multiply(x, two)\n ROOT r = f32[16777216] add(t, one)", 2},
      {"max(x * y, 1)", "t = f32[16777216] multiply(x, y)\n ROOT r = f32[16777216] maximum(t, one)", 3},
      {"gelu(x)", "t = f32[16777216] tanh(x)\n s = f32[16777216] add(t, one)\n ROOT r = f32[16777216] multiply(x, s)", 2},
  };
  for (const auto& each : cases) {
    const Ready ready = Prepare(options, each.name, StrCat(
        "HloModule m\nENTRY e {\n x = f32[16777216] parameter(0)\n ", each.arrays == 3 ? "y = f32[16777216] parameter(1)\n" : "",
        " a = f32[] constant(2)\n b = f32[] constant(1)\n two = f32[16777216] broadcast(a), dimensions={}\n"
        " one = f32[16777216] broadcast(b), dimensions={}\n ", each.body, "\n}\n"));
    Compare(options, StrCat("elementwise ", each.name), "copy 64 MB", 2 * kBytes, Copy(from, to, pool), each.arrays * kBytes,
            [&] { return ready.Run(); });
  }
}

void GemmsAgainstOneDnn(const Options& options, ThreadPool& pool) {
  const int64_t sizes[][3] = {{2048, 2048, 2048}, {1024, 4096, 3584}, {1024, 3584, 4096}, {512, 512, 512}};
  for (const auto& [m, n, k] : sizes) {
    const Ready ready = Prepare(options, "dot", StrCat("HloModule m\nENTRY e {\n a = f32[", m, ",", k, "] parameter(0)\n b = f32[", k, ",", n,
                                                       "] parameter(1)\n ROOT r = f32[", m, ",", n,
                                                       "] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"));
    std::vector<float> a(static_cast<size_t>(m * k), 0.5f), b(static_cast<size_t>(k * n), 0.25f), c(static_cast<size_t>(m * n));
    const double work = 2.0 * static_cast<double>(m * n * k);
    Compare(options, StrCat("matmul ", m, "x", n, "x", k), StrCat("oneDNN, ", pool.threads(), " threads"), work,
            [&] {
              omp_set_num_threads(pool.threads());
              return Timed([&] { dnnl_sgemm('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n); });
            },
            work, [&] { return ready.Run(); });
  }
}

void AllReduceAgainstCopy(const Options& options, ThreadPool& pool) {
  constexpr int64_t kBytes = int64_t{256} << 20;  // 64 MB per device
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  const std::string add = "HloModule m, replica_count=4\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                          " ROOT s = f32[] add(a, b)\n}\n";
  const Ready given = Prepare(options, "all-reduce", add + "ENTRY e {\n x = f32[16777216] parameter(0)\n"
      " ROOT r = f32[16777216] all-reduce(x), replica_groups={}, to_apply=add\n}\n");
  Compare(options, "all-reduce of 64 MB, 4 devices", "copy of 4 x 64 MB", 1, Copy(from, to, pool), 1, [&] { return given.Run(); });
}

// A module with `layers` layers of a dot and elementwise ops.
std::string Layers(int64_t layers, int64_t width, int64_t devices) {
  std::string text = StrCat("HloModule m, replica_count=", devices, "\nENTRY e {\n x0 = f32[", width, ",", width, "] parameter(0)\n");
  for (int64_t i = 0; i < layers; ++i) StrAppend(&text, " w", i, " = f32[", width, ",", width, "] parameter(", i + 1, ")\n");
  const std::string f32 = StrCat("f32[", width, ",", width, "]");
  for (int64_t i = 0; i < layers; ++i)
    StrAppend(&text, " d", i, " = ", f32, " dot(x", i, ", w", i, "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n t", i,
              " = ", f32, " tanh(d", i, ")\n", i + 1 == layers ? " ROOT" : "", " x", i + 1, " = ", f32, " add(t", i, ", x", i, ")\n");
  return text + "}\n";
}

void Scale(const Options& options) {
  for (const int64_t width : {64, 256}) {
    const Ready one = Prepare(options, "one", Layers(4, width, 1)), many = Prepare(options, "many", Layers(4, width, 64));
    Compare(options, StrCat("64 devices, 4 layers of ", width), "64 runs", 1,
            [&] {
              double seconds = 0;
              for (int i = 0; i < 64; ++i) seconds += one.Run();
              return seconds;
            },
            1, [&] { return many.Run(); });
  }
  const std::shared_ptr<const Module> few = Parsed("2", Layers(2, 64, 1)), all = Parsed("32", Layers(32, 64, 1));
  ThreadPool pool(options.threads);
  const auto compile = [&](const std::shared_ptr<const Module>& module) {
    return [&] { return (*Executable::Compile(module, {.pool = &pool}))->compile_seconds(); };
  };
  Compare(options, "compile of 32 layers", "of 2 layers", 1, compile(few), 1, compile(all));
}

// Compares a run of a module with its dots and convolutions alone.
void OfModule(const Options& options, const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const Ready ready = Prepare(options, path, text.str());
  StepLog log(ready.executable->grid().count());
  ready.Run(&log);
  struct Product {
    const Instruction* hlo;
    LibraryFunction function;
    int64_t times;
    std::vector<Array> operands, results;
  };
  std::vector<Product> products;
  for (const auto& [hlo, total] : log.Totals()) {
    const LoweredInstruction& step = ready.executable->program()->StepOf(*hlo);
    if (step.kind != LoweredInstruction::Kind::kLibrary || Info(hlo->opcode).op_class != OpClass::kContraction) continue;
    Product product{hlo, step.library, total.times, {}, {}};
    for (size_t i = 0; i < hlo->operand_count(); ++i) {
      const Shape& shape = hlo->operand_shape(i);
      const Dims start(static_cast<size_t>(shape.rank()), 0);
      product.operands.push_back(RandomArray(shape.element_type(), shape.dims(), AsInts(start), shape.dims(), 1, i));
    }
    product.results.emplace_back(hlo->shape().element_type(), hlo->shape().dims());
    products.push_back(std::move(product));
  }
  const Task alone = [&] {
    return Timed([&] {
      for (Product& product : products)
        for (int64_t i = 0; i < product.times; ++i) (void)product.function(*product.hlo, product.operands, product.results, *ready.pool);
    });
  };
  const std::string name = path.substr(path.rfind('/') + 1);
  Compare(options, name.substr(0, 30), "its matmuls alone", 1, alone, 1, [&] { return ready.Run(); });
}

}  // namespace
}  // namespace shoal::internal

int main(int argc, char** argv) {
  shoal::internal::Options options;
  setenv("OMP_WAIT_POLICY", "passive", 1);  // spinning threads would disturb the measurement
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--threads=")) options.threads = std::atoi(argv[i] + 10);
    else if (argument.starts_with("--rounds=")) options.rounds = std::atoi(argv[i] + 9);
    else if (argument.starts_with("--only=")) options.only = argument.substr(7);
    else options.files.push_back(argument);
  }
  for (const std::string& file : options.files) shoal::internal::OfModule(options, file);
  if (!options.files.empty()) return 0;
  shoal::internal::ThreadPool pool(options.threads);
  shoal::internal::LoopsAgainstCopy(options, pool);
  shoal::internal::GemmsAgainstOneDnn(options, pool);
  shoal::internal::AllReduceAgainstCopy(options, pool);
  shoal::internal::Scale(options);
}
