// What a fusion does, in a few words.
#pragma once

#include <string>
#include <unordered_map>

#include "core/ops/op.h"

namespace shoal::internal {

struct FusionWork {
  // "dot + bias + relu", "reduce + exponential + 12 elementwise", "multiply + add", "transpose". Collectives inside are
  // left out: they are a matter of their own.
  std::string label;
  // Of the weightiest op: "dot", "reduce", "elementwise".
  std::string main;
  OpClass main_class = OpClass::kElementwise;
  // It makes scalars one by one, as a loop's bookkeeping does, or only changes the form of a value.
  bool is_trivial = false;
  // It does no more than maps, moves and reductions.
  bool is_minor = false;
  // There is a product, a decomposition or a library call in it, whose work is best said in flops.
  bool is_arithmetic = false;
};

// Products, convolutions, decompositions, library calls.
bool IsArithmetic(OpClass op_class);

class FusionWorks {
 public:
  const FusionWork& Of(const Instruction& fusion);

 private:
  std::unordered_map<const Computation*, FusionWork> known_;
};

}  // namespace shoal::internal
