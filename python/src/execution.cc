// Compilation and execution.
#include "bindings.h"

using namespace nb::literals;
using shoal::Buffer;
using shoal::Executable;

Buffer ToBuffer(nb::handle object, shoal::ElementType expected);

namespace {

// A run that may take longer than this is watched for KeyboardInterrupt.
constexpr double kShortSeconds = 0.005;

struct PyExecutable {
  explicit PyExecutable(Executable e) : executable(std::move(e)), arguments(executable.argument_shapes()) {}
  Executable executable;
  std::vector<shoal::Shape> arguments;
  double last_seconds = 1;
};

shoal::Buffers BuffersOf(const PyExecutable& self, nb::handle devices) {
  shoal::Buffers buffers;
  for (nb::handle device : devices) {
    std::vector<Buffer>& leaves = buffers.emplace_back();
    for (nb::handle array : device) {
      const size_t leaf = leaves.size();
      const bool known = leaf < self.arguments.size();
      leaves.push_back(ToBuffer(array, known ? self.arguments[leaf].type : shoal::ElementType::kInvalid));
    }
  }
  return buffers;
}

// Runs on a thread of its own and looks for signals, so that KeyboardInterrupt cancels the run.
shoal::RunResult RunWatched(const Executable& executable, shoal::Buffers arguments, const shoal::ExecuteOptions& options) {
  shoal::PendingRun pending = Unwrap(executable.ExecuteAsync(std::move(arguments), options));
  while (true) {
    bool ended = false;
    {
      nb::gil_scoped_release release;
      ended = pending.WaitFor(0.05);
    }
    if (ended) return Unwrap(pending.Take());
    if (PyErr_CheckSignals() != 0) {
      pending.Cancel();
      throw nb::python_error();
    }
  }
}

shoal::RunResult Run(PyExecutable& self, nb::handle devices, const shoal::ExecuteOptions& options) {
  shoal::Buffers arguments = BuffersOf(self, devices);
  if (self.last_seconds > kShortSeconds) {
    shoal::RunResult result = RunWatched(self.executable, std::move(arguments), options);
    self.last_seconds = result.seconds;
    return result;
  }
  auto result = [&] {
    nb::gil_scoped_release release;
    return self.executable.Execute(std::move(arguments), options);
  }();
  shoal::RunResult run = Unwrap(std::move(result));
  self.last_seconds = run.seconds;
  return run;
}

}  // namespace

void BindExecution(nb::module_& m) {
  nb::class_<shoal::RunResult>(m, "RunResult")
      .def_ro("outputs", &shoal::RunResult::outputs)
      .def_ro("seconds", &shoal::RunResult::seconds)
      .def_ro("instructions", &shoal::RunResult::instructions)
      .def_ro("iterations", &shoal::RunResult::iterations)
      .def_ro("peak_bytes", &shoal::RunResult::peak_bytes)
      .def("to_text", [](const shoal::RunResult& run, size_t width) { return run.ToText({width, false}); }, "width"_a = 0)
      .def("to_json", &shoal::RunResult::ToJson)
      .def("literals", &shoal::RunResult::ToLiterals);
  nb::class_<PyExecutable>(m, "CompiledModule")
      .def_prop_ro("num_devices", [](const PyExecutable& e) { return e.executable.num_devices(); })
      .def_prop_ro("argument_shapes", [](const PyExecutable& e) { return e.arguments; })
      .def_prop_ro("result_shapes", [](const PyExecutable& e) { return e.executable.result_shapes(); })
      .def_prop_ro("compile_seconds", [](const PyExecutable& e) { return e.executable.compile_seconds(); })
      .def_prop_ro("engine", [](const PyExecutable& e) {
        return std::string(e.executable.engine() == shoal::Engine::kJit ? "jit" : "interp");
      })
      .def_prop_ro("warnings", [](const PyExecutable& e) { return e.executable.warnings(); })
      .def("explain", [](const PyExecutable& e) { return e.executable.Explain(); })
      .def("generate_arguments", [](const PyExecutable& e, uint64_t seed) {
        return Unwrap(e.executable.GenerateArguments(shoal::InputMode::kRandom, seed));
      }, "seed"_a = 0)
      .def("execute", [](PyExecutable& e, nb::sequence devices, bool stub_custom_calls, double max_seconds,
                         std::function<void(double, double)> progress) {
        shoal::ExecuteOptions options;
        options.stub_custom_calls = stub_custom_calls;
        options.max_seconds = max_seconds;
        if (progress)
          options.progress = [&](const shoal::RunProgress& now) {
            nb::gil_scoped_acquire acquire;
            progress(now.instructions, now.expected_instructions);
          };
        return Run(e, devices, options);
      }, "arguments"_a, "stub_custom_calls"_a = false, "max_seconds"_a = 0, "progress"_a = nb::none())
      // One device, no options: the shortest path.
      .def("__call__", [](PyExecutable& e, nb::args arrays) {
        const shoal::RunResult run = Run(e, nb::make_tuple(arrays), {});
        const std::vector<Buffer>& outputs = run.outputs.front();
        return outputs.size() == 1 ? nb::cast(outputs.front()) : nb::cast(outputs);
      });
  m.def("compile", [](const shoal::Module& module, const std::string& engine, int threads,
                      std::optional<int64_t> devices) {
    shoal::CompileOptions options;
    if (engine != "jit" && engine != "interp") throw nb::value_error("engine must be jit or interp");
    options.engine = engine == "jit" ? shoal::Engine::kJit : shoal::Engine::kInterpreter;
    options.threads = threads;
    if (devices) {
      options.num_replicas = module.replica_count() > 1 ? *devices : 1;
      options.num_partitions = module.replica_count() > 1 ? 1 : *devices;
    }
    auto compiled = [&] {
      nb::gil_scoped_release release;
      return shoal::Compile(module, options);
    }();
    return PyExecutable(Unwrap(std::move(compiled)));
  }, "module"_a, "engine"_a = "jit", "threads"_a = 0, "devices"_a = nb::none());
}
