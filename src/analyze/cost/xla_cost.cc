#include "analyze/cost/xla_cost.h"

#include "core/ops/op.h"
#include "core/ops/traits.h"

namespace shoal::internal {

class XlaCost::InstructionCostBuilder : public OpCostBuilder {
 public:
  explicit InstructionCostBuilder(XlaCost& cost) : cost_(cost) {}
  OpCost Of(const Computation& callee) override { return cost_.Of(callee); }
  std::span<const Instruction* const> UsersOf(const Instruction& hlo) override { return cost_.users_.Of(hlo); }

 private:
  XlaCost& cost_;
};

// The module may be unverified, so check the dimension numbers and windows that determine the cost of a contraction.
// Other ops are not checked, because their checks compare shapes of the module's own pool.
bool XlaCost::HasValidShapes(const Instruction& hlo) {
  const OpInfo& op = Info(hlo.opcode);
  return op.op_class != OpClass::kContraction || op.infer(hlo, shapes_).ok();
}

OpCost XlaCost::Of(const Instruction& hlo) {
  if (auto found = instructions_.find(&hlo); found != instructions_.end()) return found->second;
  InstructionCostBuilder builder(*this);
  builder.cost = DefaultCost(hlo);
  if (HasCostInputs(hlo) && HasValidShapes(hlo)) Info(hlo.opcode).cost(hlo, builder);
  return instructions_[&hlo] = builder.cost;
}

OpCost XlaCost::Of(const Computation& computation) {
  // Computations of unverified text may call each other in a cycle. Inserting a zero cost first ends the recursion.
  auto [found, inserted] = computations_.try_emplace(&computation);
  if (!inserted) return found->second;
  OpCost sum;
  for (const Instruction* hlo : PostOrder(computation)) sum.Add(Of(*hlo));
  return computations_[&computation] = sum;
}

}  // namespace shoal::internal
