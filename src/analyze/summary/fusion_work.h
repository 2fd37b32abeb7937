// Summarizes the work of a fusion.
#pragma once

#include <string>
#include <unordered_map>

#include "core/ops/op.h"

namespace shoal::internal {

struct FusionWork {
  // Text such as "dot + bias + relu" or "reduce + exponential + 12 elementwise". Omits collectives.
  std::string label;
  // The kind of the most expensive op, such as "dot", "reduce" or "elementwise".
  std::string main;
  OpClass main_class = OpClass::kElementwise;
  // True if the fusion computes only scalars, such as a loop counter, or only changes the type or layout of a value.
  bool is_trivial = false;
  // True if the fusion contains only elementwise ops, data movement and memory-bound reductions.
  bool is_minor = false;
  // True if the main op is a contraction, a decomposition or a library call, so that flops measure the work best.
  bool is_arithmetic = false;
};

// True for contractions, decompositions and library calls.
bool IsArithmetic(OpClass op_class);

// The work of every fusion of a module.
class FusionWorks {
 public:
  explicit FusionWorks(const Module& module);
  const FusionWork& Of(const Instruction& fusion) const;

 private:
  std::unordered_map<const Computation*, FusionWork> works_;
};

}  // namespace shoal::internal
