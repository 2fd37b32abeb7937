// Modules that are rewritten.
#include <cmath>

#include "api/modules.h"
#include "shoal/edit.h"

namespace shoal {
namespace {

constexpr char kNegations[] = R"(HloModule negations

ENTRY main {
  x = f32[2,3] parameter(0)
  a = f32[2,3] negate(x)
  b = f32[2,3] negate(a), metadata={op_name="jit(f)/neg" source_file="model.py" source_line=7}
  c = f32[2,3] exponential(b), control-predecessors={a}
  ROOT r = f32[2,3] add(c, b)
}
)";

std::string Text(const Module& module) { return Must(Print(module, {.format = Format::kShort})); }

std::string MessageOf(const auto& result) { return result.ok() ? std::string() : result.error().message(); }

TEST(Edit, NothingChangesNothing) {
  const Module module = Must(Parse(kNegations, {.strict = true}));
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  EXPECT_EQ(Must(Print(Must(editor.Finish()))), Must(Print(module)));
}

TEST(Edit, ReplacesAndRemovesTheUnused) {
  const Module module = Must(Parse(kNegations, {.strict = true}));
  const std::string before = Text(module);
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  EXPECT_EQ(editor.entry()->name(), "main");
  ASSERT_TRUE(editor.Replace(*module.Find("b"), *module.Find("x")).ok());
  const Instruction c = *editor.Find("c");
  EXPECT_EQ(c.operands()[0].name(), "x");
  EXPECT_EQ(editor.Find("x")->users().size(), 3u);
  EXPECT_FALSE(editor.Find("b"));
  const Module edited = Must(editor.Finish());
  EXPECT_EQ(Text(module), before);
  EXPECT_TRUE(edited.Find("a")) << "c still waits for it";
  EXPECT_EQ(edited.Find("c")->users().size(), 1u);
  EXPECT_EQ(Must(Print(Must(Parse(Must(Print(edited)), {.strict = true})))), Must(Print(edited)));
}

TEST(Edit, AddsWithInferredShapeAndOrigin) {
  const Module module = Must(Parse(kNegations, {.strict = true}));
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  ComputationBuilder sum = Must(editor.NewComputation("sum"));
  const Value left = Must(sum.Parameter("f32[]")), right = Must(sum.Parameter("f32[]"));
  ASSERT_TRUE(sum.Finish(Must(sum.Add("add", {left, right}))).ok());
  const Instruction b = *editor.Find("b");
  const Instruction zero = Must(editor.Constant("f32[]", "0", b));
  const Instruction rows = Must(editor.Add("reduce", {b, zero}, "dimensions={1}, to_apply=sum", {}, "rows"));
  EXPECT_EQ(rows.shape().text, "f32[2]{0}");
  EXPECT_EQ(rows.metadata().op_name, "jit(f)/neg");
  const Instruction wide = Must(editor.Add("broadcast", {rows}, "dimensions={0}", "f32[2,3]"));
  EXPECT_EQ(wide.name(), "broadcast");
  ASSERT_TRUE(editor.Replace(b, wide).ok());  // rows is computed from b, so it keeps its operand
  const Module edited = Must(editor.Finish());
  EXPECT_EQ(edited.Find("rows")->operands()[0].name(), "b");
  EXPECT_EQ(edited.Find("r")->operands()[1].name(), "broadcast");
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const auto run = Must(Must(Compile(edited)).Execute({{Must(Buffer::Copy(x.data(), 24, ElementType::kF32, {2, 3}))}}));
  EXPECT_FLOAT_EQ(ToFloats(run.outputs[0][0])[0], 6 + std::exp(6.0f));
}

TEST(Edit, ChangesOperandsAttributesAndRoot) {
  const Module module = Must(Parse(kAllReduce, {.strict = true}));
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  const Instruction x = *editor.Find("x"), sum = *editor.Find("sum");
  const Instruction twice = Must(editor.Add("multiply", {sum, sum}));
  const Instruction pair = Must(editor.Add("tuple", {twice, x}));
  ASSERT_TRUE(editor.SetOperand(twice, 1, x).ok());
  ASSERT_TRUE(editor.SetAttributes(sum, "replica_groups={{0},{1}}, frontend_attributes={a=\"1\"}").ok());
  ASSERT_TRUE(editor.SetRoot(pair).ok());
  const Module edited = Must(editor.Finish());
  EXPECT_EQ(edited.Find("sum")->attribute("replica_groups"), "{{0},{1}}");
  EXPECT_EQ(edited.result_shape().elements.size(), 2u);
  const auto run = Must(Must(Compile(edited)).Execute({{Floats({1, 2, 3})}, {Floats({5, 5, 5})}}));
  EXPECT_EQ(ToFloats(run.outputs[0][0]), (std::vector<float>{1, 4, 9}));
}

TEST(Edit, RemoveKeepsControlDependencies) {
  const Module module = Must(Parse(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  a = f32[] negate(x)
  b = f32[] abs(x), control-predecessors={a}
  c = f32[] floor(x), control-predecessors={b}
  ROOT t = (f32[], f32[]) tuple(a, c)
}
)"));
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  ASSERT_TRUE(editor.Remove(*editor.Find("b")).ok());
  EXPECT_NE(Text(Must(editor.Finish())).find("floor(x), control-predecessors={a}"), std::string::npos);
}

TEST(Edit, RefusesAndChangesNothing) {
  const Module module = Must(Parse(kNegations, {.strict = true})), other = Must(Parse(kAddOne, {.strict = true}));
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  const Instruction x = *editor.Find("x"), b = *editor.Find("b"), r = *editor.Find("r");
  EXPECT_EQ(MessageOf(editor.Add("fly", {x})), "unknown op 'fly'");
  EXPECT_EQ(editor.Add("reverse", {x}, "dimensions={0,2}").error().diags()[0].rule, "reverse.C2");
  EXPECT_NE(MessageOf(editor.Add("reverse", {x}, "colour={1}")), "");
  EXPECT_NE(MessageOf(editor.Add("negate", {x}, {}, "f32[")), "");
  EXPECT_NE(MessageOf(editor.Add("negate", {x}, {}, {}, "1 2")), "");
  EXPECT_NE(MessageOf(editor.Add("parameter", {}, {}, "f32[]", {}, x)), "");
  EXPECT_NE(MessageOf(editor.Add("iota", {}, "iota_dimension=0", "f32[4]")), "");
  EXPECT_NE(MessageOf(editor.Add("negate", {*other.Find("x")})), "");
  EXPECT_NE(MessageOf(editor.Constant("f32[2]", "{1}", x)), "");
  EXPECT_NE(MessageOf(editor.Replace(b, b)), "");
  EXPECT_NE(MessageOf(editor.Replace(b, Must(editor.Add("transpose", {x}, "dimensions={1,0}")))), "");
  EXPECT_NE(MessageOf(editor.SetOperand(b, 1, x)), "");
  EXPECT_NE(MessageOf(editor.SetOperand(b, 0, r)), "") << "a cycle";
  EXPECT_NE(MessageOf(editor.SetAttributes(b, "dimensions={0}")), "");
  EXPECT_EQ(MessageOf(editor.Remove(b)), "b is an operand of c");
  EXPECT_NE(MessageOf(editor.Remove(r)), "");
  EXPECT_EQ(Must(Print(Must(editor.Finish()))), Must(Print(module)));
  EXPECT_NE(MessageOf(editor.Finish()), "");
  EXPECT_NE(MessageOf(editor.Replace(b, x)), "");
  EXPECT_NE(MessageOf(ModuleEditor::Of(Must(Parse(kBadReverse)))), "");
  EXPECT_NE(MessageOf(ModuleEditor::Of({})), "");
}

TEST(Edit, FinishVerifies) {
  const Module module = Must(Parse(kNegations, {.strict = true}));
  ModuleEditor editor = Must(ModuleEditor::Of(module));
  const Instruction x = *editor.Find("x");
  const Instruction turned = Must(editor.Add("transpose", {x}, "dimensions={1,0}"));
  ASSERT_TRUE(editor.SetOperand(*editor.Find("a"), 0, turned).ok());
  const Result<Module> edited = editor.Finish();
  ASSERT_FALSE(edited.ok());
  EXPECT_EQ(edited.error().message().find("after the edit: "), 0u);
  EXPECT_EQ(edited.error().diags()[0].at.line, 5);
  ModuleEditor open = Must(ModuleEditor::Of(module));
  Must(open.NewComputation("f"));
  EXPECT_NE(MessageOf(open.Finish()), "");
}

TEST(Edit, RemovedInstructionsAreRefused) {
  ModuleEditor editor = Must(ModuleEditor::Of(Must(Parse(kNegations, {.strict = true}))));
  const Instruction b = *editor.Find("b");
  ASSERT_TRUE(editor.Replace(b, *editor.Find("x")).ok());
  EXPECT_EQ(MessageOf(editor.Remove(b)), "b was removed by this edit");
}

}  // namespace
}  // namespace shoal
