// Facts, passes, predictions, differences, comparisons and pages.
#include "api/modules.h"
#include "shoal/diff.h"
#include "shoal/predict.h"
#include "shoal/report.h"
#include "shoal/transform.h"

namespace shoal {
namespace {

constexpr char kTensorParallel[] = SHOAL_EXAMPLES "/tensor_parallel_mlp.hlo";
constexpr char kLoops[] = SHOAL_EXAMPLES "/nested_loops.hlo";

TEST(Facts, DescribeDevicesLoopsAndCollectives) {
  const Facts facts = Must(Facts::Of(Must(Read(kLoops))));
  EXPECT_EQ(facts.devices().count, 8);
  const std::vector<Loop> loops = facts.loops();
  ASSERT_EQ(loops.size(), 2u);
  for (const Loop& loop : loops) EXPECT_TRUE(loop.trip_count == 4 || loop.trip_count == 3);
  const Collectives collectives = Must(facts.collectives());
  EXPECT_EQ(collectives.all.size(), 4u);
  double executions = 0;
  for (const Collective& each : collectives.all) {
    EXPECT_TRUE(each.is_async);
    EXPECT_GT(each.payload_bytes, 0);
    EXPECT_EQ(each.group_count * each.group_size, 8);
    executions += each.executions;
  }
  EXPECT_EQ(executions, facts.totals().collectives);
  EXPECT_NE(collectives.ToText().find("all-gather"), std::string::npos);
  EXPECT_NE(collectives.ToJson().find("\"version\""), std::string::npos);
}

TEST(Facts, CountCostAndMemory) {
  const Facts facts = Must(Facts::Of(Must(Read(kTensorParallel))));
  const Cost cost = Must(facts.cost({.by = "opcode"}));
  double flops = 0;
  for (const InstructionCost& each : cost.instructions) flops += each.executions * each.once.flops;
  EXPECT_EQ(flops, cost.total.flops);
  EXPECT_EQ(cost.total.flops, facts.totals().flops);
  EXPECT_NE(cost.ToText().find("fusion"), std::string::npos);
  const Memory memory = Must(facts.memory());
  EXPECT_GT(memory.argument_bytes, 0);
  EXPECT_GE(memory.device_bytes, memory.argument_bytes + memory.temporary_bytes);
  EXPECT_FALSE(memory.live_at_peak.empty());
  EXPECT_EQ(Must(Facts::Of(facts.module(), {.backend = "cpu"})).memory()->backend, "cpu");
  EXPECT_NE(Must(facts.outline()).ToText().find("all-reduce"), std::string::npos);
}

TEST(Facts, TakeTripCounts) {
  const Module module = Must(Parse(kEndless));
  EXPECT_EQ(Must(Facts::Of(module)).loops()[0].trip_count, std::nullopt);  // depends on the parameter
  EXPECT_EQ(Must(Facts::Of(Must(Read(kLoops)), {.trip_counts = {{"outer", 9}}})).loops().size(), 2u);
  EXPECT_EQ(Facts::Of(module, {.trip_counts = {{"nothing", 1}}}).error().message(), "unknown loop 'nothing'; known: end");
  EXPECT_FALSE(Facts::Of(module, {.trip_counts = {{"end", -1}}}).ok());
  EXPECT_FALSE(Facts::Of(module, {.probabilities = {{"body", 0.5}}}).ok());
  EXPECT_FALSE(Facts::Of(module, {.num_replicas = 0}).ok());
  const Facts few = Must(Facts::Of(module, {.trip_counts = {{"end", 5}}}));
  EXPECT_LT(few.totals().instructions, 100);
}

TEST(Facts, RejectWrongOptions) {
  const Facts facts = Must(Facts::Of(Must(Parse(kAddOne))));
  EXPECT_EQ(Facts::Of(Module()).error().kind(), ErrorKind::kArgument);
  EXPECT_FALSE(Facts::Of(facts.module(), {.backend = "abacus"}).ok());
  EXPECT_FALSE(facts.cost({.by = "colour"}).ok());
  EXPECT_FALSE(facts.cost({.top = -1}).ok());
  EXPECT_FALSE(facts.collectives({.devices_per_node = 0}).ok());
  EXPECT_FALSE(facts.memory({.budget = -1}).ok());
  EXPECT_FALSE(facts.outline({.depth = -1}).ok());
  EXPECT_TRUE(View().ToText().empty());
}

TEST(Predict, ExplainsWhereTimeGoes) {
  const Facts facts = Must(Facts::Of(Must(Read(kTensorParallel))));
  Machine machine = Must(Machine::Load("h100x8"));
  const Prediction prediction = Must(Predict(facts, machine));
  EXPECT_EQ(prediction.machine, "h100x8");
  EXPECT_NEAR(prediction.matrix_seconds + prediction.memory_seconds + prediction.communication_seconds +
                  prediction.copy_seconds + prediction.idle_seconds, prediction.step_seconds, 1e-9);
  ASSERT_FALSE(prediction.ops.empty());
  EXPECT_TRUE(facts.module().Find(prediction.ops[0].instruction.name()).has_value());
  EXPECT_FALSE(prediction.trace.events.empty());
  EXPECT_NE(Must(prediction.Explain(std::string(prediction.ops[0].instruction.name()))).ToText().find("per step"), std::string::npos);
  EXPECT_FALSE(prediction.Explain("nothing").ok());
  ASSERT_TRUE(machine.Set("nic=1GB/s").ok());
  ASSERT_TRUE(machine.Set("device.bandwidth=1 GB/s").ok());
  EXPECT_GT(Must(Predict(facts, machine)).step_seconds, prediction.step_seconds);
  EXPECT_FALSE(machine.Set("nic=fast").ok());
  EXPECT_FALSE(Prediction().Explain("x").ok());
  EXPECT_FALSE(Match(prediction, Trace()).ok());
}

TEST(Predict, OutlivesFactsAndModule) {
  std::optional<Prediction> prediction;
  {
    const Facts facts = Must(Facts::Of(Must(Read(kLoops))));
    prediction = Must(Predict(facts, Must(Machine::Load("h100x8"))));
  }
  for (const PredictedTransfer& transfer : prediction->transfers) EXPECT_FALSE(transfer.instruction.opcode().empty());
  for (const PredictedOp& op : prediction->ops) EXPECT_FALSE(op.instruction.computation().name().empty());
  EXPECT_FALSE(prediction->ToText().empty());
  EXPECT_NE(prediction->ToJson().find("step_seconds"), std::string::npos);
}

TEST(Machine, HasParameters) {
  const Machine machine = Must(Machine::Load("h100"));
  EXPECT_GT(Machine::Names().size(), 5u);
  bool found = false;
  for (const MachineParameter& parameter : machine.parameters())
    found |= parameter.name == "device.bandwidth" && parameter.value > 1e12 && parameter.unit == "B/s";
  EXPECT_TRUE(found);
  EXPECT_NE(machine.ToText().find("device.bandwidth"), std::string::npos);
  EXPECT_EQ(Machine::Load("abacus").error().kind(), ErrorKind::kArgument);
  EXPECT_FALSE(Machine::Parse("device: 3").ok());
}

TEST(Transform, RunsPassesOnACopy) {
  const Module module = Must(Parse("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(x)\n  ROOT z = f32[2] abs(x)\n}\n"));
  int calls = 0;
  const Module smaller = Must(Transform(module, {"remove-dead-code"}, {.after = [&](const PassOutcome& outcome) {
    calls += outcome.pass.name == "remove-dead-code" && outcome.changed;
    EXPECT_EQ(outcome.module.entry()->instructions().size(), 2u);
  }}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(module.entry()->instructions().size(), 3u);
  EXPECT_EQ(smaller.entry()->instructions().size(), 2u);
  const Module optimized = Must(Transform(Must(Read(kTensorParallel))));
  EXPECT_TRUE(Must(Verify(optimized)).empty());
  EXPECT_TRUE(Compile(optimized).ok());
  EXPECT_FALSE(Transform(module, {"no-such-pass"}).ok());
  EXPECT_FALSE(Transform(Module()).ok());
  EXPECT_FALSE(Transform(Must(Parse(kBadReverse))).ok());
  EXPECT_GT(Passes().size(), 10u);
}

TEST(Diff, FindsChangesAndThresholds) {
  std::string text = kAddOne;
  text.replace(text.find(" add(x"), 6, " multiply(x");
  const Facts a = Must(Facts::Of(Must(Parse(kAddOne)))), b = Must(Facts::Of(Must(Parse(text))));
  const ModuleDiff diff = Must(Diff(a, b, {.thresholds = {"flops<=+0", "instructions<1"}}));
  EXPECT_FALSE(diff.changes.empty());
  EXPECT_EQ(diff.exceeded, std::vector<std::string>{"instructions<1"});
  EXPECT_NE(diff.ToText().find("multiply"), std::string::npos);
  EXPECT_TRUE(Must(Diff(a, a)).changes.empty());
  EXPECT_FALSE(Diff(a, b, {.thresholds = {"nonsense"}}).ok());
}

TEST(Diff, FingerprintsIgnoreNamesAndOrder) {
  const std::string text = kAllReduce;
  std::string renamed = text, changed = text;
  for (size_t at; (at = renamed.find("sum")) != std::string::npos;) renamed.replace(at, 3, "other");
  changed.replace(changed.find("{{0,1}}"), 7, "{{0},{1}}");
  const std::string fingerprint = Must(Fingerprint(Must(Parse(text))));
  EXPECT_EQ(fingerprint.size(), 16u);
  EXPECT_EQ(Must(Fingerprint(Must(Parse(renamed)))), fingerprint);
  EXPECT_NE(Must(Fingerprint(Must(Parse(changed)))), fingerprint);
  const std::string aliased = "HloModule m, input_output_alias={{}: (0, {}, may-alias)}\nENTRY e { ROOT p = f32[] parameter(0) }";
  EXPECT_NE(Must(Fingerprint(Must(Parse(aliased)))), Must(Fingerprint(Must(Parse("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }")))));
  EXPECT_FALSE(Fingerprint({}).ok());
}

TEST(Compare, FindsDifferentResults) {
  const Module a = Must(Parse(kAddOne));
  std::string text = kAddOne;
  text.replace(text.find("constant(1)"), 11, "constant(2)");
  const Comparison same = Must(Compare(a, a));
  EXPECT_TRUE(same.agrees);
  const Comparison different = Must(Compare(a, Must(Parse(text))));
  EXPECT_FALSE(different.agrees);
  ASSERT_EQ(different.outputs.size(), 1u);
  EXPECT_EQ(different.outputs[0].exceeding, 4);
  EXPECT_NEAR(different.outputs[0].max_absolute, 1, 1e-6);
  EXPECT_TRUE(Must(Compare(a, Must(Parse(text)), {.atol = 2})).agrees);
  EXPECT_NE(different.ToText().find("out of bounds"), std::string::npos);
  EXPECT_FALSE(Compare(a, Must(Parse(kAllReduce))).ok());
  EXPECT_FALSE(Compare(a, Module()).ok());
  EXPECT_FALSE(Compare(a, a, {.inputs = {.path = "/no/such/folder"}}).ok());
}

TEST(Page, ContainsBothModules) {
  const Facts a = Must(Facts::Of(Must(Read(kTensorParallel)))), b = Must(Facts::Of(Must(Read(kLoops))));
  const std::string page = Must(Page(a, {.machines = {Must(Machine::Load("h100x8"))}}, &b)).html;
  EXPECT_NE(page.find("nested_loops"), std::string::npos);
  EXPECT_NE(page.find("tensor_parallel_mlp"), std::string::npos);
  EXPECT_FALSE(Page(a, {.profiles = {"/no/such/profile"}}).ok());
}

}  // namespace
}  // namespace shoal
