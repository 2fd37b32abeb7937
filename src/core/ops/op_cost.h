// What an instruction costs, as XLA's HloCostAnalysis counts: loop bodies once, a branch as its dearest, collectives
// as local work. Sums are f32, as XLA's are, so that large modules agree to the last digit.
#pragma once

#include <span>

#include "core/ir/module.h"

namespace shoal::internal {

struct OpCost {
  float flops = 0;
  float transcendentals = 0;
  float bytes = 0;               // "bytes accessed"
  double read = 0, written = 0;  // of which operands and result; ours, not XLA's

  void Add(const OpCost& other);
  // Of each figure the larger.
  void Max(const OpCost& other);
};

// The price of one instruction in the making. It begins with all operands read and the result written.
class OpCostBuilder {
 public:
  virtual ~OpCostBuilder() = default;
  // Of all instructions of a computation.
  virtual OpCost Of(const Computation& callee) = 0;
  virtual std::span<const Instruction* const> UsersOf(const Instruction& hlo) = 0;

  // The instruction touches this much memory, and not what it began with.
  void Moves(double bytes_read, double bytes_written);
  void NoTraffic() { Moves(0, 0); }
  void Computes(int64_t flops) { cost.flops = static_cast<float>(flops); }
  // A function that is applied so often: its flops and transcendentals count, its memory does not.
  void Applies(const Computation& function, int64_t times);

  OpCost cost;
};

// Bytes of an array, of a tuple its table of pointers; 0 where the text gives no layout.
int64_t BytesOf(const Shape& shape);
// Of all arrays in it.
double LeafBytesOf(const Shape& shape);

// The price every instruction begins with.
OpCost DefaultCost(const Instruction& hlo);

}  // namespace shoal::internal
