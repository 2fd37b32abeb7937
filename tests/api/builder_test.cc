// Modules that are built instruction by instruction.
#include "api/modules.h"
#include "shoal/builder.h"

namespace shoal {
namespace {

ComputationBuilder AddFloats(ModuleBuilder& builder) {
  ComputationBuilder add = builder.NewComputation("add");
  const Value a = Must(add.Parameter("f32[]")), b = Must(add.Parameter("f32[]"));
  EXPECT_TRUE(add.Finish(Must(add.Add("add", {a, b}))).ok());
  return add;
}

TEST(Builder, BuildsAModuleThatRuns) {
  ModuleBuilder builder("rows");
  AddFloats(builder);
  ComputationBuilder main = builder.NewComputation("main");
  const Value x = Must(main.Parameter("f32[2,3]", "x"));
  const Value zero = Must(main.Constant("f32[]", "0"));
  const std::vector<float> weights{1, 10, 100};
  const Value w = Must(main.Constant(ElementType::kF32, {3}, weights.data(), 12, "w"));
  const Value wide = Must(main.Add("broadcast", {w}, "dimensions={1}", "f32[2,3]"));
  const Value product = Must(main.Add("multiply", {x, wide}));
  EXPECT_EQ(Must(main.ShapeOf(product)).dims, (std::vector<int64_t>{2, 3}));
  const Value sum = Must(main.Add("reduce", {product, zero}, "dimensions={1}, to_apply=add", {}, "sum"));
  EXPECT_EQ(Must(main.ShapeOf(sum)).dims, std::vector<int64_t>{2});
  ASSERT_TRUE(main.Finish(sum).ok());
  const Module module = Must(builder.Finish(main));
  EXPECT_EQ(module.name(), "rows");
  EXPECT_EQ(module.entry()->name(), "main");
  EXPECT_EQ(module.entry()->root()->name(), "sum");
  const Module again = Must(Parse(Must(Print(module)), {.strict = true}));
  EXPECT_EQ(Must(Print(again)), Must(Print(module)));

  const Executable executable = Must(Compile(module));
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const RunResult run = Must(executable.Execute({{Must(Buffer::Copy(values.data(), 24, ElementType::kF32, {2, 3}))}}));
  EXPECT_EQ(ToFloats(run.outputs[0][0]), (std::vector<float>{321, 654}));
}

TEST(Builder, BuildsCollectives) {
  ModuleBuilder builder("sum", /*replica_count=*/2);
  AddFloats(builder);
  ComputationBuilder main = builder.NewComputation("main");
  const Value x = Must(main.Parameter("f32[3]"));
  ASSERT_TRUE(main.Finish(Must(main.Add("all-reduce", {x}, "replica_groups={{0,1}}, to_apply=add", "f32[3]"))).ok());
  const Executable executable = Must(Compile(Must(builder.Finish(main))));
  const RunResult run = Must(executable.Execute({{Floats({1, 2, 3})}, {Floats({1, 2, 3})}}));
  EXPECT_EQ(ToFloats(run.outputs[1][0]), (std::vector<float>{2, 4, 6}));
}

TEST(Builder, RefusesWhatBreaksARule) {
  ModuleBuilder builder("m");
  ComputationBuilder main = builder.NewComputation("main"), other = builder.NewComputation("main");
  EXPECT_NE(main.name(), other.name());
  const Value x = Must(main.Parameter("f32[3,2]", "x"));
  const auto message = [](const auto& result) { return result.ok() ? std::string() : result.error().message(); };
  EXPECT_EQ(message(main.Add("reverse", {x}, "dimensions={0,2}")), "dimensions must lie in [0, 2), got {0,2}");
  EXPECT_EQ(main.Add("reverse", {x}, "dimensions={0,2}").error().diags()[0].rule, "reverse.C2");
  EXPECT_EQ(message(main.Add("fly", {x})), "unknown op 'fly'");
  EXPECT_NE(message(main.Add("reverse", {x}, "colour={1}")), "");
  EXPECT_NE(message(main.Add("reverse", {x}, "dimensions={1}, dimensions={1}")), "");
  EXPECT_NE(message(main.Add("reverse", {x}, "dimensions={1} rest")), "");
  EXPECT_NE(message(main.Add("reverse", {x})), "");
  EXPECT_NE(message(main.Add("reverse", {x, x}, "dimensions={1}")), "");
  EXPECT_NE(message(main.Add("negate", {x}, {}, "f32[7]")), "");
  EXPECT_NE(message(main.Add("negate", {x}, {}, {}, "a b")), "");
  EXPECT_NE(message(main.Add("parameter", {})), "");
  EXPECT_NE(message(main.Add("constant", {}, {}, "f32[]")), "");
  EXPECT_NE(message(main.Add("reduce", {x, x}, "dimensions={1}, to_apply=missing")), "");
  EXPECT_NE(message(other.Add("negate", {x})), "");  // a value of another computation
  EXPECT_NE(message(main.Add("negate", {Value{0, 99}})), "");
  EXPECT_NE(message(main.Parameter("f32[")), "");
  EXPECT_NE(message(main.Parameter("f32[2] rest")), "");
  EXPECT_NE(message(main.Constant("f32[2]", "{1}")), "");
  EXPECT_NE(message(main.Constant(ElementType::kF32, {2}, nullptr, 8)), "");
  EXPECT_NE(message(main.Constant(ElementType::kF32, {-2}, "", 0)), "");
  EXPECT_NE(message(main.ShapeOf(Value{})), "");
  EXPECT_NE(message(main.Finish(Value{})), "");
  EXPECT_NE(message(builder.Finish(main)), "");  // it has no root
  const Value y = Must(main.Add("reverse", {x}, "dimensions={1}", {}, "x"));
  ASSERT_TRUE(main.Finish(y).ok());
  EXPECT_NE(message(main.Add("negate", {y})), "");  // finished
  EXPECT_NE(message(builder.Finish(main)), "");     // the other computation is not finished
  ASSERT_TRUE(other.Finish(Must(other.Parameter("f32[]"))).ok());
  ModuleBuilder second("n");
  EXPECT_NE(message(second.Finish(main)), "");
  const Module module = Must(builder.Finish(main));
  EXPECT_EQ(module.entry()->instructions().size(), 2u);  // failed calls added nothing
  EXPECT_EQ(module.entry()->root()->name(), "x.1");
  EXPECT_NE(message(builder.Finish(main)), "");
  EXPECT_NE(message(main.Add("negate", {y})), "");
  EXPECT_NE(message(main.ShapeOf(y)), "");
  EXPECT_TRUE(main.name().empty());
}

}  // namespace
}  // namespace shoal
