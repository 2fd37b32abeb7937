// Finds the f32 values of a module that a compiler widened from bf16 or f16, because its device has no such arithmetic.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/ir/module.h"

namespace shoal::internal {

// An element of the state of a while.
struct LoopElement {
  Instruction* loop = nullptr;
  size_t index = 0;
  bool operator==(const LoopElement&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const LoopElement& e) { return H::combine(std::move(h), e.loop, e.index); }
};

struct WidenedValues {
  // Arrays, and tuples of arrays that a collective returns. Every instruction here can have the narrow type.
  absl::flat_hash_set<const Instruction*> values;
  absl::flat_hash_set<LoopElement> loop_elements;
  // Matrix products and convolutions whose operands can have the narrow type.
  absl::flat_hash_set<const Instruction*> contractions;

  bool empty() const { return values.empty() && loop_elements.empty() && contractions.empty(); }
};

// A value was widened if it holds only converted elements of the narrow type, or if its users round all of it to that
// type; data movement and loop state in between count. A product was widened if one of its operands was, or if its
// result is rounded. A sum over devices was widened if it sums widened products, or if its result is rounded.
WidenedValues FindWidenedValues(const Module& module, ElementType narrow);

// The loop element that a get-tuple-element reads, from the loop or inside its body or condition; else no loop.
class LoopElements {
 public:
  explicit LoopElements(const Module& module);
  LoopElement ReadBy(const Instruction& element) const;
  // The loop whose initial or next state this tuple is; null if none.
  Instruction* LoopOf(const Instruction& tuple) const;
  const std::vector<Instruction*>& all() const { return loops_; }

 private:
  std::vector<Instruction*> loops_;
  absl::flat_hash_map<const Instruction*, Instruction*> loop_of_state_, loop_of_tuple_;
};

}  // namespace shoal::internal
