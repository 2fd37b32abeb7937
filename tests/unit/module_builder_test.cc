#include "core/ops/module_builder.h"

#include <gtest/gtest.h>

#include "core/ops/attrs.h"
#include "core/ops/index_ops.h"

namespace shoal::internal {
namespace {

class ModuleBuilderTest : public testing::Test {
 protected:
  const Shape* Array(std::vector<int64_t> dims) { return module_.shapes.Array(ElementType::kF32, dims); }
  Ints List(std::vector<int64_t> values) { return module_.arena.Copy(values); }
  Instruction* Add(Computation& computation, Opcode opcode, std::initializer_list<Instruction*> operands,
                   const AttrList& attrs = {}, const Shape* shape = nullptr) {
    Result<Instruction*> hlo = builder_.Add(computation, opcode, operands, attrs, shape);
    EXPECT_TRUE(hlo.ok()) << (hlo.ok() ? "" : hlo.diag().message);
    return hlo.ok() ? *hlo : nullptr;
  }

  Module module_{nullptr};
  ModuleBuilder builder_{module_};
};

TEST_F(ModuleBuilderTest, InfersShapesAndOrdersInstructions) {
  Computation& sum = builder_.NewComputation("sum");
  Instruction* x = builder_.Parameter(sum, Array({}));
  Instruction* y = builder_.Parameter(sum, Array({}));
  builder_.Finish(sum, Add(sum, Opcode::kAdd, {x, y}));

  Computation& main = builder_.NewComputation("main");
  Instruction* p = builder_.Parameter(main, Array({3, 4}));
  Instruction* unused = builder_.Parameter(main, Array({}));
  Instruction* t = Add(main, Opcode::kTranspose, {p}, AttrList().Set(kDimensions, List({1, 0})));
  EXPECT_TRUE(Compatible(t->shape(), *Array({4, 3})));
  Instruction* r = Add(main, Opcode::kReduce, {t, unused}, AttrList().Set(kDimensions, List({0})).Set(kToApply, &sum));
  EXPECT_EQ(&r->shape(), Array({3}));
  Instruction* const elements[] = {r, t};
  Instruction* pair = builder_.Tuple(main, elements);
  Instruction* first = builder_.GetTupleElement(main, pair, 0);
  EXPECT_EQ(&first->shape(), Array({3}));
  builder_.Finish(main, first);
  builder_.FinishModule(main);

  EXPECT_EQ(module_.entry, &main);
  EXPECT_EQ(module_.computations.size(), 2u);
  EXPECT_TRUE(IsInOrder(main));
  EXPECT_EQ(main.parameters.size(), 2u);
}

TEST_F(ModuleBuilderTest, NamesAreUnique) {
  Computation& first = builder_.NewComputation("f");
  Computation& second = builder_.NewComputation("f");
  EXPECT_NE(first.name, second.name);
  Instruction* a = builder_.Parameter(first, Array({}), "x");
  Instruction* b = builder_.Parameter(first, Array({}), "x");
  EXPECT_NE(a->name, b->name);
  EXPECT_NE(Add(first, Opcode::kNegate, {a})->name, Add(first, Opcode::kNegate, {b})->name);
}

TEST_F(ModuleBuilderTest, RefusesBrokenRulesAndKeepsTheComputation) {
  Computation& main = builder_.NewComputation("main");
  Instruction* p = builder_.Parameter(main, Array({3, 4}));
  builder_.SetOrigin({7, 3}, nullptr);
  auto refused = [&](Opcode opcode, std::initializer_list<Instruction*> operands, const AttrList& attrs,
                     const Shape* shape) {
    Result<Instruction*> hlo = builder_.Add(main, opcode, operands, attrs, shape);
    EXPECT_FALSE(hlo.ok());
    EXPECT_EQ(main.instructions.size(), 1u);
    return hlo.ok() ? Diag() : hlo.diag();
  };
  EXPECT_EQ(refused(Opcode::kAdd, {p}, {}, nullptr).at.offset, 7u);
  EXPECT_EQ(refused(Opcode::kTranspose, {p}, {}, nullptr).rule, "loose.missing-attribute");
  EXPECT_EQ(refused(Opcode::kReshape, {p}, {}, nullptr).rule, "loose.shape");
  EXPECT_EQ(refused(Opcode::kNegate, {p}, {}, Array({4, 3})).rule, "shape.C1");
  EXPECT_FALSE(refused(Opcode::kReverse, {p}, AttrList().Set(kDimensions, List({2})), nullptr).rule.empty());
}

TEST_F(ModuleBuilderTest, InstructionsCarryTheirOrigin) {
  Computation& main = builder_.NewComputation("main");
  Metadata metadata;
  metadata.op_name = "model/layer";
  builder_.SetOrigin({5, 2}, &metadata);
  Instruction* p = builder_.Parameter(main, Array({}));
  EXPECT_EQ(p->at.offset, 5u);
  EXPECT_EQ((*p)[kMetadata]->op_name, "model/layer");
}

}  // namespace
}  // namespace shoal::internal
