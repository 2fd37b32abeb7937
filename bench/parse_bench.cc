// Measures the speed of reading HLO text or StableHLO (text or bytecode), and the memory it takes.
//   parse_bench FILE… [--benchmark_…]     Google Benchmark, one benchmark per file
//   parse_bench FILE… --json [--repeat=N] one line of JSON per file: best of N, for bench/vs_xla.py
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "formats/stablehlo/read.h"
#include "formats/text/parser.h"

namespace shoal::internal {
namespace {

std::string ReadText(const std::string& path) {
  Result<std::unique_ptr<Source>> source = Source::Read(path);
  return source.ok() ? std::string((*source)->text()) : "";
}

size_t HeapInUse() {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Parsed {
  std::unique_ptr<Module> module;
  double seconds = 0;
};

// Excludes copying the text, because shoal maps files into memory.
Parsed ParseOnce(const std::string& path, const std::string& text) {
  std::unique_ptr<Source> source = Source::FromString(path, text);
  Diags diags;
  auto start = std::chrono::steady_clock::now();
  Parsed parsed;
  parsed.module = LooksLikeStablehlo(text) ? ReadStablehlo(source, false, diags) : ParseModule(source, {}, diags);
  parsed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return parsed;
}

void PrintJson(const std::string& path, int repeat) {
  const std::string text = ReadText(path);
  double best = 1e30;
  size_t most = 0;
  for (int i = 0; i < repeat; ++i) {
    size_t before = HeapInUse();
    Parsed parsed = ParseOnce(path, text);
    if (parsed.module == nullptr) {
      std::fprintf(stderr, "%s cannot be read\n", path.c_str());
      return;
    }
    best = std::min(best, parsed.seconds);
    most = std::max(most, HeapInUse() - before - text.size());
  }
  std::printf("{\"file\": \"%s\", \"bytes\": %zu, \"seconds\": %.6f, \"peak_bytes\": %zu}\n", path.c_str(), text.size(),
              best, most);
}

void Benchmark(benchmark::State& state, const std::string& path) {
  const std::string text = ReadText(path);
  for (auto _ : state) {
    Parsed parsed = ParseOnce(path, text);
    state.SetIterationTime(parsed.seconds);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

}  // namespace
}  // namespace shoal::internal

int main(int argc, char** argv) {
  std::vector<std::string> files;
  bool json = false;
  int repeat = 5;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) json = true;
    if (std::strncmp(argv[i], "--repeat=", 9) == 0) repeat = std::atoi(argv[i] + 9);
    if (argv[i][0] != '-') files.push_back(argv[i]);
  }
  if (json) {
    for (const std::string& file : files) shoal::internal::PrintJson(file, repeat);
    return 0;
  }
  for (const std::string& file : files)
    benchmark::RegisterBenchmark(file.c_str(), [file](benchmark::State& state) {
      shoal::internal::Benchmark(state, file);
    })->UseManualTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
