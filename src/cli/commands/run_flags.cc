#include "cli/commands/run_flags.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "cli/commands/base.h"

namespace shoal::cli {
namespace {

template <class Names>
size_t IndexOf(const Names& names, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

int64_t RunLimits::MaxBytes() const { return ParseBytes(max_memory).value_or(0); }

Numerics NumericsOf(const std::string& name) {
  return name.empty() ? Numerics::kInferred : static_cast<Numerics>(1 + IndexOf(NumericsNames(), name));
}

double BytesOf(const Shape& shape) {
  double bytes = 0;
  for (const Shape& element : shape.elements) bytes += BytesOf(element);
  if (!shape.IsArray()) return bytes;
  bytes = static_cast<double>(ElementBytes(shape.type));
  for (const int64_t size : shape.dims) bytes *= static_cast<double>(size);
  return bytes;
}

CompileOptions CompileOptionsOf(const EngineFlags& flags, const Job& job, ProgressLine& line) {
  CompileOptions options;
  options.engine = flags.engine == "jit" ? Engine::kJit : Engine::kInterpreter;
  options.threads = flags.threads;
  options.cpu = flags.cpu;
  options.cache_dir = flags.cache_dir;
  options.job = job;
  options.progress = [&line](std::string_view stage) { line.Show(0, 0, std::string(stage)); };
  return options;
}

ExecuteOptions ExecuteOptionsOf(const RunLimits& limits, ProgressLine& line) {
  ExecuteOptions options;
  options.donate = false;
  options.max_instructions = limits.max_instructions;
  options.max_seconds = limits.max_seconds;
  options.max_bytes = limits.MaxBytes();
  options.progress = [&line](const RunProgress& progress) {
    line.Show(progress.instructions, progress.expected_instructions, progress.positions);
  };
  return options;
}

Result<InputOptions> InputOptionsOf(const InputFlags& flags, const RunLimits& limits, ProgressLine& line) {
  InputOptions options;
  options.path = flags.path;
  options.mode = static_cast<InputMode>(IndexOf(InputModeNames(), flags.mode));
  options.seed = flags.random_seed;
  options.max_bytes = limits.MaxBytes();
  options.progress = [&line](double bytes, double total) {
    line.Show(bytes, total, StrCat(FormatBytes(bytes), " of ", FormatBytes(total)));
  };
  for (const std::string& text : flags.fixed) {
    const size_t equals = text.rfind('=');
    double value = 0;
    if (equals == std::string::npos || !absl::SimpleAtod(text.substr(equals + 1), &value))
      return Error::OfArgument(StrCat("--input needs NAME=VALUE, as in --input step=3, got '", text, "'"));
    options.fixed[text.substr(0, equals)] = value;
  }
  return options;
}

Result<Module> ReadRunnable(const std::string& path) { return ReadModule(path, {.strict = true, .verify = true}); }

}  // namespace shoal::cli
