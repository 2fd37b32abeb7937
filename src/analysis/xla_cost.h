// The figures of XLA's HloCostAnalysis: every computation priced where it is called, loop bodies once.
#pragma once

#include <unordered_map>

#include "analysis/users.h"
#include "ops/price.h"

namespace shoal {

class XlaCost {
 public:
  // Of one instruction, with what it calls.
  const Price& Of(const Instruction& hlo);
  // Of a computation: the sum over its instructions, added up in XLA's order.
  const Price& Of(const Computation& computation);

 private:
  class InstructionPricing;

  Users users_;
  std::unordered_map<const Computation*, Price> computations_;
  std::unordered_map<const Instruction*, Price> instructions_;
};

}  // namespace shoal
