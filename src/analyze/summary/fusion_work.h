// Summarizes the work of a fusion.
#pragma once

#include <string>
#include <unordered_map>

#include "core/ops/op.h"

namespace shoal::internal {

struct FusionWork {
  // "dot + bias + relu", "reduce + exponential + 12 elementwise". Omits collectives, which are counted separately.
  std::string label;
  // The kind of the heaviest op: "dot", "reduce", "elementwise".
  std::string main;
  OpClass main_class = OpClass::kElementwise;
  // It computes only scalars, like the bookkeeping of a loop, or only changes the type or layout of a value.
  bool is_trivial = false;
  // It contains only elementwise ops, data movement and memory-bound reductions.
  bool is_minor = false;
  // Its main op is a contraction, a decomposition or a library call, so that flops describe its work best.
  bool is_arithmetic = false;
};

// True for contractions, decompositions and library calls.
bool IsArithmetic(OpClass op_class);

class FusionWorks {
 public:
  const FusionWork& Of(const Instruction& fusion);

 private:
  std::unordered_map<const Computation*, FusionWork> cache_;
};

}  // namespace shoal::internal
