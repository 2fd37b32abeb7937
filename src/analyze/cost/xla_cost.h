// The figures of XLA's HloCostAnalysis: every computation priced where it is called, loop bodies once.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/users.h"
#include "core/ops/price.h"

namespace shoal {

class XlaCost {
 public:
  // Of one instruction, with what it calls.
  Price Of(const Instruction& hlo);
  // Of a computation: the sum over its instructions, added up in XLA's order.
  Price Of(const Computation& computation);

 private:
  class InstructionPricing;

  bool KeepsRules(const Instruction& hlo);

  Arena arena_;
  ShapePool shapes_{arena_};  // of shapes that are only looked at
  Users users_;
  absl::flat_hash_map<const Computation*, Price> computations_;
  absl::flat_hash_map<const Instruction*, Price> instructions_;
};

}  // namespace shoal
