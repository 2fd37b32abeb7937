// The figures of XLA's HloCostAnalysis: every computation priced where it is called, loop bodies once.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/users.h"
#include "core/ops/op_cost.h"

namespace shoal::internal {

class XlaCost {
 public:
  // Of one instruction, with what it calls.
  OpCost Of(const Instruction& hlo);
  // Of a computation: the sum over its instructions, added up in XLA's order.
  OpCost Of(const Computation& computation);

 private:
  class InstructionCostBuilder;

  bool KeepsRules(const Instruction& hlo);

  Arena arena_;
  ShapePool shapes_{arena_};  // of shapes that are only looked at
  Users users_;
  absl::flat_hash_map<const Computation*, OpCost> computations_;
  absl::flat_hash_map<const Instruction*, OpCost> instructions_;
};

}  // namespace shoal::internal
