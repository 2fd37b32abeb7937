// Compiling and running modules.
#include <thread>

#include "api/modules.h"

namespace shoal {
namespace {

TEST(Execute, AddsOne) {
  for (const Engine engine : {Engine::kJit, Engine::kInterpreter}) {
    const Executable executable = Must(Compile(Must(Parse(kAddOne)), {.engine = engine}));
    EXPECT_EQ(executable.engine(), engine);
    EXPECT_EQ(executable.num_devices(), 1);
    ASSERT_EQ(executable.argument_shapes().size(), 1u);
    const RunResult run = Must(executable.Execute({{Floats({1, 2, 3, 4})}}));
    ASSERT_EQ(run.outputs.size(), 1u);
    EXPECT_EQ(ToFloats(run.outputs[0][0]), (std::vector<float>{2, 3, 4, 5}));
    EXPECT_GT(run.instructions, 0);
    EXPECT_NE(run.ToText().find("ran on 1 device"), std::string::npos);
    EXPECT_NE(run.ToJson().find("\"outputs\""), std::string::npos);
    EXPECT_NE(run.ToLiterals().find("f32[4]"), std::string::npos);
  }
}

TEST(Execute, AllReducesOverTwoDevices) {
  const Executable executable = Must(Compile(Must(Parse(kAllReduce))));
  ASSERT_EQ(executable.num_devices(), 2);
  const RunResult run = Must(executable.Execute({{Floats({1, 2, 3})}, {Floats({10, 20, 30})}}));
  for (const auto& device : run.outputs) EXPECT_EQ(ToFloats(device[0]), (std::vector<float>{11, 22, 33}));
  ASSERT_EQ(run.traffic.size(), 2u);
  EXPECT_EQ(run.traffic[0][0].kind, "all-reduce");
  EXPECT_EQ(run.traffic[0][0].payload_bytes, 12);
}

TEST(Execute, ResultsOutliveEverything) {
  std::optional<RunResult> run;
  {
    // The result is a constant of the module.
    const Module module = Must(Parse("HloModule c\nENTRY e {\n  ROOT c = f32[3] constant({1, 2, 3})\n}\n"));
    const Executable executable = Must(Compile(module));
    run = Must(executable.Execute({{}}));
  }
  EXPECT_EQ(ToFloats(run->outputs[0][0]), (std::vector<float>{1, 2, 3}));
  EXPECT_NE(run->ToText().find("f32[3]"), std::string::npos);
}

TEST(Execute, GeneratesArguments) {
  const Executable executable = Must(Compile(Must(Read(SHOAL_EXAMPLES "/mlp.hlo"))));
  const Buffers arguments = Must(executable.GenerateArguments());
  ASSERT_EQ(static_cast<int64_t>(arguments.size()), executable.num_devices());
  EXPECT_EQ(arguments[0].size(), executable.argument_shapes().size());
  const RunResult run = Must(executable.Execute(arguments));
  EXPECT_EQ(run.outputs[0].size(), executable.result_shapes().size());
  EXPECT_FALSE(executable.Explain().empty());
  const Buffers zeros = Must(executable.GenerateArguments(InputMode::kZeros));
  EXPECT_EQ(zeros[0].size(), arguments[0].size());
}

TEST(Execute, KeepsSharedArgumentsAndUsesDonatedOnes) {
  // The update happens in place if the argument is donated.
  const Executable executable = Must(Compile(Must(Parse(R"(HloModule update
ENTRY e {
  x = f32[100000] parameter(0)
  v = f32[1] parameter(1)
  i = s32[] constant(7)
  ROOT u = f32[100000] dynamic-update-slice(x, v, i)
})"))));
  Buffer x = Floats(std::vector<float>(100000, 1));
  const RunResult kept = Must(executable.Execute({{x, Floats({5})}}));
  EXPECT_EQ(ToFloats(x)[7], 1);
  EXPECT_EQ(ToFloats(kept.outputs[0][0])[7], 5);
  const void* memory = x.mutable_data();
  Buffers donated(1);
  donated[0].push_back(std::move(x));
  donated[0].push_back(Floats({6}));
  const RunResult run = Must(executable.Execute(std::move(donated)));
  EXPECT_EQ(ToFloats(run.outputs[0][0])[7], 6);
  EXPECT_EQ(run.outputs[0][0].data(), memory);
}

TEST(Execute, ReturnsAnArgumentWithoutACopy) {
  std::vector<float> own{1, 2, 3};
  bool is_released = false;
  {
    const Executable executable = Must(Compile(Must(Parse("HloModule same\nENTRY e {\n  ROOT x = f32[3] parameter(0)\n}\n"))));
    Buffer x = Must(Buffer::Borrow(own.data(), ElementType::kF32, {3}, [&] { is_released = true; }));
    std::optional<RunResult> run = Must(executable.Execute({{std::move(x)}}));
    EXPECT_EQ(run->outputs[0][0].data(), own.data());
    EXPECT_FALSE(is_released);
    run.reset();
  }
  EXPECT_TRUE(is_released);
}

TEST(Execute, RunsInTheBackground) {
  const Executable executable = Must(Compile(Must(Parse(kAddOne))));
  PendingRun pending = Must(executable.ExecuteAsync({{Floats({1, 2, 3, 4})}}));
  EXPECT_EQ(ToFloats(Must(pending.Take()).outputs[0][0])[3], 5);
  EXPECT_TRUE(pending.done());
  EXPECT_FALSE(pending.Take().ok());
  std::optional<Result<RunResult>> result;
  { const PendingRun other = Must(executable.ExecuteAsync({{Floats({1, 2, 3, 4})}}, {}, [&](Result<RunResult> run) { result = std::move(run); })); }
  ASSERT_TRUE(result && result->ok());
}

TEST(Execute, StopsOnRequest) {
  for (const Engine engine : {Engine::kJit, Engine::kInterpreter}) {
    const Executable executable = Must(Compile(Must(Parse(kEndless)), {.engine = engine}));
    int updates = 0;
    ExecuteOptions options;
    options.progress = [&](const RunProgress& progress) { updates += progress.instructions > 0; };
    PendingRun pending = Must(executable.ExecuteAsync(Must(executable.GenerateArguments(InputMode::kZeros)), options));
    while (!pending.WaitFor(0.3)) pending.Cancel();
    const Result<RunResult> run = pending.Take();
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.error().kind(), ErrorKind::kCancelled);
  }
}

TEST(Execute, ShowsEveryValue) {
  for (const Engine engine : {Engine::kJit, Engine::kInterpreter}) {
    const Executable executable = Must(Compile(Must(Parse(kAddOne)), {.engine = engine, .observable = true}));
    std::vector<std::string> names;
    ExecuteOptions options;
    options.on_value = [&](const ObservedValue& value) {
      names.emplace_back(value.instruction.name());
      if (names.back() == "ones") {
        EXPECT_EQ(ToFloats(value.arrays[0]), (std::vector<float>{1, 1, 1, 1}));
      }
      return true;
    };
    const RunResult run = Must(executable.Execute({{Floats({1, 2, 3, 4})}}, options));
    EXPECT_EQ(names.size(), 4u);
    EXPECT_EQ(names.back(), "sum");
    options.on_value = [](const ObservedValue& value) { return value.instruction.name() != "ones"; };
    EXPECT_EQ(executable.Execute({{Floats({1, 2, 3, 4})}}, options).error().kind(), ErrorKind::kCancelled);
    options.profile = true;
    EXPECT_EQ(executable.Execute({{Floats({1, 2, 3, 4})}}, options).error().kind(), ErrorKind::kArgument);
  }
  const Executable fast = Must(Compile(Must(Parse(kAddOne))));
  EXPECT_EQ(fast.Execute({{Floats({1, 2, 3, 4})}}, {.check_nans = true}).error().kind(), ErrorKind::kArgument);
}

TEST(Execute, FindsNans) {
  const Executable executable = Must(Compile(Must(Parse(
      "HloModule m\nENTRY e {\n  x = f32[1] parameter(0)\n  y = f32[1] log(x)\n  ROOT z = f32[1] abs(y)\n}\n")), {.observable = true}));
  const Result<RunResult> run = executable.Execute({{Floats({-1})}}, {.check_nans = true});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().diags()[0].at.line, 4);
  EXPECT_TRUE(executable.Execute({{Floats({1})}}, {.check_nans = true}).ok());
}

TEST(Execute, PassesOutfeedsOn) {
  const Executable executable = Must(Compile(Must(Parse(
      "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  t = token[] after-all()\n  ROOT o = token[] outfeed(x, t), outfeed_shape=f32[2]\n}\n"))));
  std::vector<float> seen;
  ExecuteOptions options;
  options.on_outfeed = [&](const ObservedValue& value) { seen = ToFloats(value.arrays[0]); };
  const RunResult run = Must(executable.Execute({{Floats({7, 8})}}, options));
  EXPECT_EQ(seen, (std::vector<float>{7, 8}));
  EXPECT_TRUE(run.outputs[0][0].empty());
}

TEST(Execute, RecordsAProfile) {
  const Executable executable = Must(Compile(Must(Parse(kAddOne))));
  const RunResult run = Must(executable.Execute({{Floats({1, 2, 3, 4})}}, {.profile = true}));
  EXPECT_NE(run.ProfileTrace().find("traceEvents"), std::string::npos);
  EXPECT_FALSE(run.ProfileText().empty());
  const RunResult plain = Must(executable.Execute({{Floats({1, 2, 3, 4})}}));
  EXPECT_TRUE(plain.ProfileText().empty());
}

}  // namespace
}  // namespace shoal
