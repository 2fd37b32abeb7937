// Reading, inspecting, verifying and printing modules.
#include "api/modules.h"

namespace shoal {
namespace {

TEST(Module, ShowsItsInstructions) {
  const Module module = Must(Parse(kAddOne, {}, "add_one.hlo"));
  EXPECT_EQ(module.name(), "add_one");
  EXPECT_EQ(module.path(), "add_one.hlo");
  EXPECT_TRUE(module.warnings().empty());
  ASSERT_EQ(module.computations().size(), 1u);
  const Computation main = *module.entry();
  EXPECT_EQ(main.name(), "main");
  EXPECT_TRUE(main.is_entry());
  EXPECT_EQ(main.instructions().size(), 4u);
  ASSERT_EQ(main.parameters().size(), 1u);

  const Instruction sum = *main.root();
  EXPECT_EQ(sum.name(), "sum");
  EXPECT_EQ(sum.opcode(), "add");
  EXPECT_EQ(sum.shape().type, ElementType::kF32);
  EXPECT_EQ(sum.shape().dims, std::vector<int64_t>{4});
  EXPECT_EQ(sum.shape().text, "f32[4]{0}");
  ASSERT_EQ(sum.operands().size(), 2u);
  EXPECT_EQ(sum.operands()[0], main.parameters()[0]);
  EXPECT_EQ(sum.operands()[0].users(), std::vector<Instruction>{sum});
  EXPECT_EQ(sum.operands()[1].attribute("dimensions"), "{}");
  EXPECT_EQ(sum.operands()[1].attribute("window"), "");
  EXPECT_EQ(sum.metadata().op_name, "jit(f)/add");
  EXPECT_EQ(sum.metadata().source, "model.py:12");
  EXPECT_EQ(sum.location().line, 7);
  EXPECT_EQ(sum.computation(), main);
}

TEST(Module, ShowsCallsAndAttributes) {
  const Module module = Must(Parse(kAllReduce));
  EXPECT_EQ(module.replica_count(), 2);
  const Instruction sum = *module.entry()->root();
  EXPECT_EQ(sum.opcode(), "all-reduce");
  EXPECT_EQ(sum.attribute("replica_groups"), "{{0,1}}");
  ASSERT_EQ(sum.called_computations().size(), 1u);
  EXPECT_EQ(sum.called_computations()[0].name(), "add");
  EXPECT_FALSE(sum.called_computations()[0].is_entry());
  EXPECT_EQ(module.Find("sum"), sum);
  EXPECT_EQ(module.Find("nothing"), std::nullopt);
}

TEST(Module, InstructionsOutliveTheHandle) {
  std::optional<Instruction> root;
  {
    const Module module = Must(Parse(kAddOne));
    root = module.entry()->root();
  }
  EXPECT_EQ(root->operands()[0].name(), "x");
}

TEST(Module, PrintsAndReadsAgain) {
  const Module module = Must(Parse(kAddOne));
  const std::string text = Must(Print(module));
  EXPECT_EQ(Must(Print(Must(Parse(text)))), text);
  const std::string proto = Must(Serialize(module));
  EXPECT_EQ(Must(Print(Must(Parse(proto)))), text);
  EXPECT_EQ(Must(Print(module, {.format = Format::kShort})).find('%'), std::string::npos);
  EXPECT_EQ(Must(Print(module, {.format = Format::kProtoJson})).front(), '{');
  // The names of values are not read from StableHLO.
  const std::string stablehlo = Must(Print(module, {.format = Format::kStablehlo}));
  const std::string again = Must(Print(Must(Parse(stablehlo)), {.format = Format::kStablehlo}));
  EXPECT_EQ(Must(Print(Must(Parse(again)), {.format = Format::kStablehlo})), again);
}

TEST(Module, HasSourceStacks) {
  const Module module = Must(Parse(R"(HloModule m

FileNames
1 "model.py"
2 "train.py"

FunctionNames
1 "layer"
2 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=3 end_column=9}
2 {file_name_id=2 function_name_id=2 line=40 end_line=40 column=1 end_column=9}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


ENTRY e {
  x = f32[] parameter(0)
  ROOT r = f32[] negate(x), metadata={op_name="neg" stack_frame_id=2}
}
)"));
  const std::vector<SourceFrame> stack = module.Find("r")->source_stack();
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0].file, "model.py");
  EXPECT_EQ(stack[0].function, "layer");
  EXPECT_EQ(stack[0].line, 12);
  EXPECT_EQ(stack[1].function, "main");
  EXPECT_TRUE(module.Find("x")->source_stack().empty());
}

TEST(Module, CountsOwnPackagesAsTheUsersProgram) {
  constexpr std::string_view kText = R"(HloModule m

FileNames
1 "train.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=5 end_line=0 column=0 end_column=0}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] tanh(x), metadata={op_type="aten__gelu" op_name="aten__gelu" source_file="/lib/python3.12/site-packages/ourlib/mlp.py" source_line=8 stack_frame_id=1}
  ROOT z = f32[2] negate(y), metadata={op_type="aten__gelu_backward" op_name="aten__gelu_backward"}
}
)";
  const Module module = Must(Parse(kText)), own = Must(Parse(kText, {.own_packages = {"ourlib"}}));
  EXPECT_EQ(module.Find("y")->metadata().source, "train.py:5");
  EXPECT_EQ(module.Find("z")->metadata().source, "train.py:5 (via forward)");
  EXPECT_EQ(own.Find("y")->metadata().source, "ourlib/mlp.py:8");
  EXPECT_EQ(own.Find("z")->metadata().source, "ourlib/mlp.py:8 (via forward)");
}

TEST(Module, ReadsFiles) {
  const Module module = Must(Read(SHOAL_EXAMPLES "/mlp.hlo"));
  EXPECT_TRUE(Must(Verify(module)).empty());
  EXPECT_EQ(module.parameter_shapes().size(), module.entry()->parameters().size());
  EXPECT_FALSE(module.result_shape().text.empty());
}

TEST(Module, TypesHaveNamesAndSizes) {
  EXPECT_EQ(Name(ElementType::kBf16), "bf16");
  EXPECT_EQ(ParseElementType("f8e4m3fn"), ElementType::kF8e4m3fn);
  EXPECT_EQ(ParseElementType("float"), std::nullopt);
  EXPECT_EQ(ElementBytes(ElementType::kC128), 16);
  EXPECT_EQ(ElementBytes(ElementType::kS4), 1);
  EXPECT_EQ(Name(static_cast<ElementType>(200)), "invalid");
  EXPECT_EQ(Version().substr(0, 2), "0.");
}

}  // namespace
}  // namespace shoal
