// Computes costs as XLA's HloCostAnalysis does: each call adds the cost of its callee, and a loop body counts once.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/users.h"
#include "core/ops/op_cost.h"

namespace shoal::internal {

class XlaCost {
 public:
  // The cost of an instruction, including the computations it calls.
  OpCost Of(const Instruction& hlo);
  // The cost of a computation: the sum over its instructions, in XLA's order.
  OpCost Of(const Computation& computation);

 private:
  class InstructionCostBuilder;

  bool HasValidShapes(const Instruction& hlo);

  Arena arena_;
  ShapePool shapes_{arena_};  // for temporary shapes
  Users users_;
  absl::flat_hash_map<const Computation*, OpCost> computations_;
  absl::flat_hash_map<const Instruction*, OpCost> instructions_;
};

}  // namespace shoal::internal
