#include "api/c/handles.h"

namespace shoal::internal {
namespace {

shoal_error* WriteShape(const shoal::Shape& shape, shoal_array_shape* out) {
  return WriteStruct({0, static_cast<int32_t>(shape.type), static_cast<int32_t>(shape.dims.size()), shape.dims.data()}, out);
}

}  // namespace

shoal_error* ReadExecuteOptions(const shoal_execute_options* given, shoal::ExecuteOptions& out) {
  shoal_execute_options options;
  SHOAL_C_TRY(ReadStruct(given, options));
  out.random_seed = options.random_seed;
  out.stub_custom_calls = options.stub_custom_calls != 0;
  out.profile = options.profile != 0;
  out.max_instructions = options.max_instructions;
  out.max_bytes = options.max_bytes;
  out.max_seconds = options.max_seconds;
  if (options.stop != nullptr) out.stop = options.stop->value.get_token();
  out.check_nans = options.check_nans != 0;
  if (options.on_value != nullptr)
    out.on_value = [call = options.on_value, data = options.user_data](const shoal::ObservedValue& value) {
      const shoal_buffers arrays{{value.arrays}};
      return call(value.device, TextOf(value.instruction.name()), &arrays, data) != 0;
    };
  if (options.progress != nullptr)
    out.progress = [call = options.progress, data = options.user_data](const shoal::RunProgress& progress) {
      const shoal_progress value{progress.seconds, progress.instructions, progress.expected_instructions};
      call(&value, data);
    };
  return nullptr;
}

shoal_error* ReadCompileOptions(const shoal_compile_options* given, shoal::CompileOptions& out) {
  shoal_compile_options options;
  SHOAL_C_TRY(ReadStruct(given, options));
  if (options.engine < 0 || options.engine > SHOAL_ENGINE_INTERPRETER) return Wrong("unknown engine");
  out.engine = static_cast<shoal::Engine>(options.engine);
  out.threads = options.threads;
  if (options.pool != nullptr) out.pool = options.pool->value;
  if (options.cpu != nullptr) out.cpu = options.cpu;
  if (options.cache_dir != nullptr) out.cache_dir = options.cache_dir;
  out.num_replicas = Given(options.num_replicas);
  out.num_partitions = Given(options.num_partitions);
  out.fill_elided = options.reject_elided == 0;
  if (options.stop != nullptr) out.stop = options.stop->value.get_token();
  out.observable = options.observable != 0;
  return nullptr;
}

namespace {

shoal_error* TakeArguments(const shoal_executable& executable, const shoal_arguments* given, Buffers& out) {
  shoal_arguments arguments;
  SHOAL_C_TRY(ReadStruct(given, arguments));
  const auto devices = static_cast<size_t>(executable.value.num_devices());
  const size_t leaves = executable.arguments.size();
  if (arguments.count != devices * leaves)
    return Wrong(StrCat("the module takes ", leaves, " arrays on each of ", devices, " devices, got ", arguments.count, " arguments"));
  if (arguments.count > 0 && arguments.arguments == nullptr) return Null("the arguments");
  out.resize(devices);
  for (size_t i = 0; i < arguments.count; ++i) {
    shoal_buffer* buffer = arguments.arguments[i];
    const bool is_donated = buffer != nullptr && arguments.donated != nullptr && arguments.donated[i] != 0;
    shoal::Buffer& argument = out[i / leaves].emplace_back();
    if (buffer != nullptr) argument = is_donated ? std::move(buffer->value) : buffer->value;
    if (is_donated) buffer->value = shoal::Buffer();
  }
  return nullptr;
}

shoal_error* GiveResults(shoal::Result<shoal::RunResult> run, shoal_results** out) {
  if (!run.ok()) return MakeCError(run.error());
  *out = new shoal_results{std::move(*run)};
  return nullptr;
}

shoal_error* GiveBuffers(shoal::Result<Buffers> buffers, shoal_buffers** out) {
  if (!buffers.ok()) return MakeCError(buffers.error());
  *out = new shoal_buffers{std::move(*buffers)};
  return nullptr;
}

}  // namespace
}  // namespace shoal::internal

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_pool_new(int32_t threads, shoal_pool** out) {
  if (out == nullptr) return Null("out");
  return GuardedC([&]() -> shoal_error* {
    auto pool = shoal::ThreadPool::Create(threads);
    if (!pool.ok()) return MakeCError(pool.error());
    *out = new shoal_pool{std::move(*pool)};
    return nullptr;
  });
}
void shoal_pool_free(shoal_pool* pool) { delete pool; }

shoal_error* shoal_stop_new(shoal_stop** out) {
  if (out == nullptr) return Null("out");
  return GuardedC([&]() -> shoal_error* {
    *out = new shoal_stop;
    return nullptr;
  });
}
void shoal_stop_request(shoal_stop* stop) {
  if (stop != nullptr) stop->value.request_stop();
}
void shoal_stop_free(shoal_stop* stop) { delete stop; }

shoal_error* shoal_compile(const shoal_module* module, const shoal_compile_options* given, shoal_executable** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::CompileOptions inner;
    SHOAL_C_TRY(ReadCompileOptions(given, inner));
    auto executable = shoal::Compile(module->value, inner);
    if (!executable.ok()) return MakeCError(executable.error());
    *out = new shoal_executable{*executable, executable->argument_shapes(), executable->result_shapes()};
    return nullptr;
  });
}

void shoal_executable_free(shoal_executable* executable) { delete executable; }

shoal_error* shoal_executable_get(const shoal_executable* executable, shoal_executable_info* out) {
  if (executable == nullptr) return Null("the executable");
  const shoal::Executable& value = executable->value;
  return WriteStruct({0, value.num_devices(), value.num_replicas(), value.num_partitions(), executable->arguments.size(),
                      executable->results.size(), static_cast<int32_t>(value.engine()), value.compile_seconds()}, out);
}

shoal_error* shoal_executable_argument(const shoal_executable* executable, size_t leaf, shoal_array_shape* out) {
  if (executable == nullptr) return Null("the executable");
  if (leaf >= executable->arguments.size()) return Wrong("the index exceeds the number of arguments");
  return WriteShape(executable->arguments[leaf], out);
}

shoal_error* shoal_executable_result(const shoal_executable* executable, size_t leaf, shoal_array_shape* out) {
  if (executable == nullptr) return Null("the executable");
  if (leaf >= executable->results.size()) return Wrong("the index exceeds the number of results");
  return WriteShape(executable->results[leaf], out);
}

shoal_error* shoal_executable_explain(const shoal_executable* executable, shoal_string** out) {
  if (executable == nullptr || out == nullptr) return Null("the executable and out");
  return GuardedC([&] { return Give(executable->value.Explain(), out); });
}

shoal_error* shoal_arguments_generate(const shoal_executable* executable, int32_t mode, uint64_t seed,
                                      shoal_buffers** out) {
  if (executable == nullptr || out == nullptr) return Null("the executable and out");
  if (mode < 0 || mode > SHOAL_INPUTS_DEVICE_ID) return Wrong("unknown input mode");
  return GuardedC([&] { return GiveBuffers(executable->value.GenerateArguments(static_cast<shoal::InputMode>(mode), seed), out); });
}

shoal_error* shoal_arguments_read(const shoal_executable* executable, const char* path, shoal_buffers** out) {
  if (executable == nullptr || path == nullptr || out == nullptr) return Null("the executable, path and out");
  return GuardedC([&] { return GiveBuffers(executable->value.ReadArguments(path), out); });
}

shoal_error* shoal_arguments_snapshot(const shoal_executable* executable, shoal_buffers** out) {
  if (executable == nullptr || out == nullptr) return Null("the executable and out");
  return GuardedC([&] { return GiveBuffers(executable->value.SnapshotArguments(), out); });
}

shoal_error* shoal_buffers_get(const shoal_buffers* buffers, size_t device, size_t leaf, shoal_buffer** out) {
  if (buffers == nullptr || out == nullptr) return Null("the buffers and out");
  return GuardedC([&] { return GiveBuffer(buffers->value, device, leaf, out); });
}

void shoal_buffers_free(shoal_buffers* buffers) { delete buffers; }

shoal_error* shoal_execute(const shoal_executable* executable, const shoal_arguments* arguments,
                           const shoal_execute_options* options, shoal_results** out) {
  if (executable == nullptr || arguments == nullptr || out == nullptr) return Null("the executable, the arguments and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::ExecuteOptions inner;
    SHOAL_C_TRY(ReadExecuteOptions(options, inner));
    shoal::Buffers buffers;
    SHOAL_C_TRY(TakeArguments(*executable, arguments, buffers));
    return GiveResults(executable->value.Execute(std::move(buffers), inner), out);
  });
}

shoal_error* shoal_execute_buffers(const shoal_executable* executable, const shoal_buffers* arguments,
                                   const shoal_execute_options* options, shoal_results** out) {
  if (executable == nullptr || arguments == nullptr || out == nullptr) return Null("the executable, the arguments and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::ExecuteOptions inner;
    SHOAL_C_TRY(ReadExecuteOptions(options, inner));
    return GiveResults(executable->value.Execute(arguments->value, inner), out);
  });
}

shoal_error* shoal_execute_async(const shoal_executable* executable, const shoal_arguments* arguments,
                                 const shoal_execute_options* options, shoal_done done, void* user_data,
                                 shoal_pending** out) {
  if (executable == nullptr || arguments == nullptr || out == nullptr) return Null("the executable, the arguments and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::ExecuteOptions inner;
    SHOAL_C_TRY(ReadExecuteOptions(options, inner));
    shoal::Buffers buffers;
    SHOAL_C_TRY(TakeArguments(*executable, arguments, buffers));
    std::function<void(shoal::Result<shoal::RunResult>)> callback;
    if (done != nullptr)
      callback = [done, user_data](shoal::Result<shoal::RunResult> run) {
        shoal_results* results = nullptr;
        shoal_error* error = GuardedC([&] { return GiveResults(std::move(run), &results); });
        done(error, results, user_data);
      };
    auto pending = executable->value.ExecuteAsync(std::move(buffers), inner, std::move(callback));
    if (!pending.ok()) return MakeCError(pending.error());
    *out = new shoal_pending{std::move(*pending)};
    return nullptr;
  });
}

int32_t shoal_pending_wait(const shoal_pending* pending, double seconds) {
  return pending == nullptr || pending->value.WaitFor(seconds);
}
void shoal_pending_cancel(const shoal_pending* pending) {
  if (pending != nullptr) pending->value.Cancel();
}
shoal_error* shoal_pending_take(shoal_pending* pending, shoal_results** out) {
  if (pending == nullptr || out == nullptr) return Null("the pending run and out");
  return GuardedC([&] { return GiveResults(pending->value.Take(), out); });
}
void shoal_pending_free(shoal_pending* pending) { delete pending; }

shoal_error* shoal_results_get(const shoal_results* results, shoal_results_info* out) {
  if (results == nullptr) return Null("the results");
  const shoal::RunResult& run = results->value;
  int64_t peak = 0;
  for (int64_t bytes : run.peak_bytes) peak = std::max(peak, bytes);
  return WriteStruct({0, run.outputs.size(), run.outputs.empty() ? 0 : run.outputs[0].size(), run.seconds, run.instructions,
                      run.iterations, peak}, out);
}

shoal_error* shoal_results_output(const shoal_results* results, size_t device, size_t leaf, shoal_buffer** out) {
  if (results == nullptr || out == nullptr) return Null("the results and out");
  return GuardedC([&] { return GiveBuffer(results->value.outputs, device, leaf, out); });
}

shoal_error* shoal_results_warnings(const shoal_results* results, shoal_diags** out) {
  if (results == nullptr || out == nullptr) return Null("the results and out");
  return GuardedC([&]() -> shoal_error* {
    *out = new shoal_diags{results->value.warnings};
    return nullptr;
  });
}

shoal_error* shoal_results_text(const shoal_results* results, shoal_string** out) {
  if (results == nullptr || out == nullptr) return Null("the results and out");
  return GuardedC([&] { return Give(results->value.ToText(), out); });
}

shoal_error* shoal_results_json(const shoal_results* results, shoal_string** out) {
  if (results == nullptr || out == nullptr) return Null("the results and out");
  return GuardedC([&] { return Give(results->value.ToJson(), out); });
}

shoal_error* shoal_results_trace(const shoal_results* results, shoal_string** out) {
  if (results == nullptr || out == nullptr) return Null("the results and out");
  return GuardedC([&] { return Give(results->value.ProfileTrace(), out); });
}

void shoal_results_free(shoal_results* results) { delete results; }

}  // extern "C"
