#include "analysis/xla_cost.h"

#include "ops/op.h"

namespace shoal {

class XlaCost::InstructionPricing : public Pricing {
 public:
  explicit InstructionPricing(XlaCost& cost) : cost_(cost) {}
  Price Of(const Computation& callee) override { return cost_.Of(callee); }
  std::span<const Instruction* const> UsersOf(const Instruction& hlo) override { return cost_.users_.Of(hlo); }

 private:
  XlaCost& cost_;
};

Price XlaCost::Of(const Instruction& hlo) {
  if (auto found = instructions_.find(&hlo); found != instructions_.end()) return found->second;
  InstructionPricing pricing(*this);
  pricing.price = DefaultPrice(hlo);
  Info(hlo.opcode).price(hlo, pricing);
  return instructions_[&hlo] = pricing.price;
}

Price XlaCost::Of(const Computation& computation) {
  // In loose text computations may call each other in a circle; that ends here, with nothing.
  auto [found, inserted] = computations_.try_emplace(&computation);
  if (!inserted) return found->second;
  Price sum;
  for (const Instruction* hlo : PostOrder(computation)) sum.Add(Of(*hlo));
  return computations_[&computation] = sum;
}

}  // namespace shoal
