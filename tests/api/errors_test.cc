// Every call that can fail, with what makes it fail.
#include "api/modules.h"

namespace shoal {
namespace {

TEST(Errors, OfReading) {
  const Result<Module> missing = Read("/no/such/file");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(missing.error().ToText(), "/no/such/file: error: No such file or directory\n");

  const Result<Module> bad = Parse("HloModule m\nENTRY e {\n  a = f32[2] parametr(0)\n  ROOT b = f32[] foo(c)\n", {.strict = true}, "bad.hlo");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind(), ErrorKind::kModule);
  EXPECT_EQ(bad.error().diags()[0].at.file, "bad.hlo");
  EXPECT_EQ(bad.error().diags()[0].at.line, 3);
  EXPECT_NE(bad.error().ToText().find("bad.hlo:3:"), std::string::npos);
  EXPECT_NE(bad.error().ToJson().find("\"line\": 3"), std::string::npos);

  EXPECT_FALSE(Parse("").ok());
  EXPECT_FALSE(Parse(std::string_view("\0\1\2\3\4", 5)).ok());
  EXPECT_FALSE(Parse("\x1f\x8b\x08 damaged gzip").ok());
}

TEST(Errors, OfVerification) {
  const Module module = Must(Parse(kBadReverse, {}, "bad.hlo"));
  const std::vector<Diag> diags = Must(Verify(module));
  ASSERT_EQ(diags.size(), 1u);
  EXPECT_EQ(diags[0].rule, "reverse.C2");
  EXPECT_EQ(diags[0].message, "dimensions must lie in [0, 2), got {0,2}");
  EXPECT_EQ(diags[0].at.line, 5);
  const Result<Executable> compiled = Compile(module);
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().diags()[0].rule, "reverse.C2");
}

TEST(Errors, OfDeviations) {
  // Loose text: every deviation is reported, as `shoal run` does.
  const Module loose = Must(Parse("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  v = f32[2] negate(z)\n  ROOT y = f32[2] add(z, v)\n  z = f32[2] negate(x)\n}\n"));
  EXPECT_EQ(loose.warnings().size(), 2u);
  const Result<Executable> compiled = Compile(loose);
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().kind(), ErrorKind::kModule);
  EXPECT_EQ(compiled.error().diags().size(), 2u);
}

TEST(Errors, OfAnEmptyModule) {
  Module module = Must(Parse(kAddOne));
  const Module taken = std::move(module);
  for (const Module& gone : {module, Module()}) {
    EXPECT_TRUE(gone.empty());
    EXPECT_TRUE(gone.name().empty());
    EXPECT_TRUE(gone.computations().empty());
    EXPECT_EQ(gone.entry(), std::nullopt);
    EXPECT_EQ(Verify(gone).error().kind(), ErrorKind::kArgument);
    EXPECT_EQ(Print(gone).error().kind(), ErrorKind::kArgument);
    EXPECT_EQ(Serialize(gone).error().kind(), ErrorKind::kArgument);
    EXPECT_EQ(Compile(gone).error().kind(), ErrorKind::kArgument);
  }
}

TEST(Errors, OfCompiling) {
  const Module module = Must(Parse(kAddOne));
  EXPECT_EQ(Compile(module, {.threads = -1}).error().kind(), ErrorKind::kArgument);
  EXPECT_EQ(Compile(module, {.num_replicas = 0}).error().kind(), ErrorKind::kArgument);
  EXPECT_EQ(Compile(module, {.num_replicas = 4000, .num_partitions = 4000}).error().kind(), ErrorKind::kEnvironment);
  EXPECT_FALSE(Compile(module, {.cpu = "no-such-cpu"}).ok());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Compile(module, {.stop = stop.get_token()}).error().kind(), ErrorKind::kCancelled);
  EXPECT_EQ(ThreadPool::Create(-1).error().kind(), ErrorKind::kArgument);
  const Module elided = Must(Parse("HloModule m\nENTRY e {\n  ROOT c = f32[300] constant({...})\n}\n"));
  EXPECT_FALSE(Compile(elided, {.fill_elided = false}).ok());
  EXPECT_TRUE(Compile(elided).ok());
}

TEST(Errors, OfArguments) {
  const Executable executable = Must(Compile(Must(Parse(kAllReduce, {}, "sum.hlo"))));
  const auto message = [&](Buffers arguments) {
    const Result<RunResult> run = executable.Execute(std::move(arguments));
    return run.ok() ? "" : run.error().kind() == ErrorKind::kArgument ? run.error().message() : "another kind of error";
  };
  const Buffer right = Floats({1, 2, 3});
  EXPECT_EQ(message({{right}, {right}}), "");
  EXPECT_EQ(message({{right}}), "the module runs on 2 devices, from the header; the arguments are for 1");
  EXPECT_EQ(message({{right}, {}}), "the module takes 1 arrays, got 0 for device 1");
  EXPECT_EQ(message({{right}, {Floats({1, 2})}}), "argument 0 of device 1, parameter 0 (x), must be f32[3], got f32[2]");
  EXPECT_EQ(message({{Buffer()}, {right}}), "argument 0 of device 0, parameter 0 (x), must be f32[3], got an empty buffer");
  const Buffer wrong_type = Must(Buffer::Allocate(ElementType::kS32, {3}));
  EXPECT_EQ(message({{wrong_type}, {right}}), "argument 0 of device 0, parameter 0 (x), must be f32[3], got s32[3]");
  EXPECT_FALSE(executable.ReadArguments("/no/such/folder").ok());
  EXPECT_FALSE(executable.SnapshotArguments().ok());
  EXPECT_EQ(executable.Execute({{right}, {right}}, {.max_seconds = -1}).error().kind(), ErrorKind::kArgument);
}

TEST(Errors, OfBuffers) {
  const float value = 1;
  EXPECT_EQ(Buffer::Allocate(ElementType::kTuple, {}).error().kind(), ErrorKind::kArgument);
  EXPECT_EQ(Buffer::Allocate(ElementType::kF32, {-1}).error().kind(), ErrorKind::kArgument);
  EXPECT_EQ(Buffer::Allocate(ElementType::kF32, {INT64_MAX, INT64_MAX}).error().kind(), ErrorKind::kArgument);
  EXPECT_EQ(Buffer::Copy(&value, 8, ElementType::kF32, {1}).error().kind(), ErrorKind::kArgument);
  EXPECT_EQ(Buffer::Borrow(nullptr, ElementType::kF32, {1}).error().kind(), ErrorKind::kArgument);
  const std::vector<int64_t> strides{4, 4};
  EXPECT_EQ(Buffer::Borrow(&value, ElementType::kF32, {1}, {}, strides).error().kind(), ErrorKind::kArgument);
}

TEST(Errors, OfMemory) {
  EXPECT_EQ(Buffer::Allocate(ElementType::kF32, {int64_t{1} << 50}).error().kind(), ErrorKind::kMemory);
  const Executable executable = Must(Compile(Must(Parse(
      "HloModule m\nENTRY e {\n  x = f32[4000] parameter(0)\n  ROOT y = f32[4000,4000] broadcast(x), dimensions={0}\n}\n"))));
  const Result<RunResult> run =
      executable.Execute(Must(executable.GenerateArguments(InputMode::kZeros)), {.max_bytes = 1000000});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind(), ErrorKind::kMemory);
  EXPECT_EQ(run.error().diags()[0].at.line, 4);
}

TEST(Errors, OfRunning) {
  const Executable endless = Must(Compile(Must(Parse(kEndless)), {.engine = Engine::kInterpreter}));
  const Buffers zero = Must(endless.GenerateArguments(InputMode::kZeros));
  const Result<RunResult> limited = endless.Execute(zero, {.max_instructions = 1000});
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.error().kind(), ErrorKind::kModule);
  // A message names the field of the options, not an option of the program.
  EXPECT_TRUE(limited.error().message().find("setting\u00a0max_instructions") != std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(endless.Execute(zero, {.stop = stop.get_token()}).error().kind(), ErrorKind::kCancelled);
  const Executable unknown = Must(Compile(Must(Parse(
      "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] custom-call(x), custom_call_target=\"mine\"\n}\n"))));
  const Buffers two = Must(unknown.GenerateArguments());
  EXPECT_FALSE(unknown.Execute(two).ok());
  const RunResult stubbed = Must(unknown.Execute(two, {.stub_custom_calls = true}));
  EXPECT_EQ(stubbed.warnings.size(), 1u);
}

TEST(Errors, OfResults) {
  const Result<Module> bad = Parse("");
  EXPECT_THROW(bad.value(), std::bad_variant_access);
  EXPECT_EQ(Error::OfArgument("wrong").message(), "wrong");
}

}  // namespace
}  // namespace shoal
