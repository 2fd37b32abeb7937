// Executables: simultaneous runs, ownership of results, cancellation, and memory after many of them.
#include "execute/runtime/executable.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include "core/base/strings.h"
#include "hlo_text.h"

namespace shoal::internal {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// A loop, a reduction, a dot and an all-reduce on two devices.
constexpr char kTwoDevices[] = R"(HloModule devices, replica_count=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
condition {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[64,64] get-tuple-element(s), index=1
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[64,64] all-reduce(d), replica_groups={}, to_apply=add
  t = f32[64,64] tanh(r)
  ROOT u = (s32[], f32[64,64]) tuple(next, t)
}
ENTRY e {
  x = f32[64,64] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[64,64]) tuple(zero, x)
  w = (s32[], f32[64,64]) while(s), condition=condition, body=body
  y = f32[64,64] get-tuple-element(w), index=1
  none = f32[] constant(0)
  sums = f32[64] reduce(y, none), dimensions={1}, to_apply=add
  ROOT r = (f32[64,64], f32[64]) tuple(y, sums)
})";

// A long reduction that is split into parts, and results that are a constant and an argument.
constexpr char kOneDevice[] = R"(HloModule rows
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[400000] parameter(0)
  y = f32[400000] exponential(x)
  zero = f32[] constant(0)
  sum = f32[] reduce(y, zero), dimensions={0}, to_apply=add
  c = f32[4] constant({1, 2, 3, 4})
  ROOT r = (f32[], f32[4], f32[400000], f32[400000]) tuple(sum, c, x, y)
})";

constexpr char kSmallModule[] = R"(HloModule small
ENTRY e {
  x = f32[16] parameter(0)
  y = f32[16] sine(x)
  c = f32[16] constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
  ROOT r = (f32[16], f32[16]) tuple(y, c)
})";

using Arguments = std::vector<std::vector<Value>>;

Arguments ArgumentsOf(const Module& module, int64_t devices) {
  Arguments arguments(static_cast<size_t>(devices));
  for (size_t d = 0; d < arguments.size(); ++d) {
    for (const Instruction* parameter : module.entry->parameters) {
      Array array(parameter->shape().element_type(), parameter->shape().dims());
      const std::span<float> elements = array.Mutable<float>();
      for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 97 + d) / 400;
      arguments[d].push_back(std::move(array));
    }
  }
  return arguments;
}

std::string BytesOf(const RunOutcome& outcome) {
  std::string bytes;
  for (const Value& result : outcome.results) {
    std::vector<Value> leaves;
    AppendLeaves(result, leaves);
    for (const Value& leaf : leaves)
      bytes.append(reinterpret_cast<const char*>(leaf.array().data()), static_cast<size_t>(leaf.array().bytes()));
  }
  return bytes;
}

struct Prepared {
  std::shared_ptr<const Executable> executable;
  Arguments arguments;
  std::string expected;
};

Prepared Prepare(const char* text, int64_t devices, Engine engine, ThreadPool* pool) {
  const std::shared_ptr<const Module> module = ModuleFrom(text);
  CompileOptions options;
  options.engine = engine;
  options.grid = DeviceGrid{devices, 1};
  options.pool = pool;
  auto executable = Executable::Compile(module, options);
  EXPECT_TRUE(executable.ok()) << executable.diag().message;
  Prepared prepared{*executable, ArgumentsOf(*module, devices), ""};
  const auto outcome = prepared.executable->Run(prepared.arguments, {});
  EXPECT_TRUE(outcome.ok()) << outcome.diag().message;
  prepared.expected = BytesOf(*outcome);
  return prepared;
}

TEST(Executable, EightThreadsCompileAndRun) {
  ThreadPool pool(4);
  for (const Engine engine : {Engine::kCompiled, Engine::kInterpreter}) {
    const Prepared prepared[] = {Prepare(kTwoDevices, 2, engine, &pool), Prepare(kOneDevice, 1, engine, &pool)};
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        RunSettings settings;
        if (t % 4 != 3) settings.pool = &pool;
        for (size_t i = 0; i < 6; ++i) {
          const Prepared& one = prepared[(t + i) % 2];
          const auto outcome = one.executable->Run(one.arguments, settings);
          ASSERT_TRUE(outcome.ok()) << outcome.diag().message;
          EXPECT_EQ(BytesOf(*outcome), one.expected);
        }
        const Prepared own = t % 2 == 0 ? Prepare(kTwoDevices, 2, engine, &pool) : Prepare(kOneDevice, 1, engine, &pool);
        EXPECT_EQ(own.expected, prepared[t % 2].expected);
      });
  }
}

TEST(Executable, ResultsOutliveIt) {
  for (const Engine engine : {Engine::kCompiled, Engine::kInterpreter}) {
    RunOutcome outcome;
    std::string expected;
    {
      Prepared prepared = Prepare(kSmallModule, 1, engine, nullptr);
      expected = prepared.expected;
      outcome = std::move(*prepared.executable->Run(std::move(prepared.arguments), {}));
    }
    EXPECT_EQ(BytesOf(outcome), expected);
  }
}

TEST(Executable, RunsDoNotChangeArguments) {
  const Prepared prepared = Prepare(kOneDevice, 1, Engine::kCompiled, nullptr);
  const Array& argument = prepared.arguments[0][0].array();
  const std::vector<float> before(argument.As<float>().begin(), argument.As<float>().end());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(BytesOf(*prepared.executable->Run(prepared.arguments, {})), prepared.expected);
  EXPECT_TRUE(std::ranges::equal(argument.As<float>(), before));
}

TEST(Executable, RunIsCancelled) {
  const std::string text = R"(HloModule long
condition {
  i = s64[] parameter(0)
  n = s64[] constant(4000000000000)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  i = s64[] parameter(0)
  one = s64[] constant(1)
  ROOT next = s64[] add(i, one)
}
ENTRY e {
  zero = s64[] constant(0)
  ROOT w = s64[] while(zero), condition=condition, body=body
})";
  for (const Engine engine : {Engine::kCompiled, Engine::kInterpreter}) {
    CompileOptions options;
    options.engine = engine;
    const auto executable = Executable::Compile(ModuleFrom(text), options);
    ASSERT_TRUE(executable.ok());
    std::stop_source source;
    RunSettings settings;
    settings.cancel = source.get_token();
    std::jthread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      source.request_stop();
    });
    const auto outcome = (*executable)->Run(Arguments(1), settings);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.diag().rule, kRunCancelled);
  }
}

// Twelve ops that each add shifted halves: one loop nest would compute each element of the result from 4096 loads. The
// kernel builder refuses it, and every op gets a kernel of its own.
TEST(Executable, RefusedGroupIsFusedOpByOp) {
  constexpr int64_t kLevels = 12;
  std::string text = StrCat("HloModule shifts\nENTRY e {\n  x0 = f32[", 1 << (kLevels + 1), "] parameter(0)\n");
  int64_t size = 1 << (kLevels + 1);
  for (int64_t i = 0; i < kLevels; ++i) {
    const int64_t shift = 1 << i, smaller = size - shift;
    StrAppend(&text, "  a", i, " = f32[", smaller, "] slice(x", i, "), slice={[0:", smaller, "]}\n");
    StrAppend(&text, "  b", i, " = f32[", smaller, "] slice(x", i, "), slice={[", shift, ":", size, "]}\n");
    StrAppend(&text, i + 1 == kLevels ? "  ROOT" : "  ", " x", i + 1, " = f32[", smaller, "] add(a", i, ", b", i, ")\n");
    size = smaller;
  }
  text += "}\n";
  const Prepared compiled = Prepare(text.c_str(), 1, Engine::kCompiled, nullptr);
  const Prepared interpreted = Prepare(text.c_str(), 1, Engine::kInterpreter, nullptr);
  EXPECT_EQ(compiled.expected, interpreted.expected);
  const Program& program = *compiled.executable->program();
  ASSERT_EQ(program.refusals.size(), 1u);
  EXPECT_EQ(program.refusals[0].name, StrCat("x", kLevels));
  EXPECT_EQ(program.refusals[0].reason, "too many ops");
  for (const Instruction* hlo : program.module->entry->instructions) {
    const bool is_evaluated = program.StepOf(*hlo).kind == LoweredInstruction::Kind::kEvaluate;
    EXPECT_EQ(is_evaluated, hlo->operand_count() == 0) << hlo->name;
  }
}

// Resident memory of this process in bytes.
int64_t ResidentBytes() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) ADD_FAILURE() << "no /proc/self/statm";
  if (file != nullptr) std::fclose(file);
  return resident * 4096;
}

TEST(Executable, ThousandCyclesDoNotGrow) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers keep freed memory";
  ThreadPool pool(2);
  int64_t after_warm_up = 0;
  for (int i = 0; i < 1100; ++i) {
    if (i == 100) after_warm_up = ResidentBytes();
    const Engine engine = i % 4 == 0 ? Engine::kCompiled : Engine::kInterpreter;
    const Prepared prepared = Prepare(kSmallModule, 1, engine, &pool);
    RunSettings settings;
    settings.pool = &pool;
    EXPECT_EQ(BytesOf(*prepared.executable->Run(prepared.arguments, settings)), prepared.expected);
  }
  EXPECT_LT(ResidentBytes() - after_warm_up, 4 << 20);
}

}  // namespace
}  // namespace shoal::internal
