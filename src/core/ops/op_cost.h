// The cost of an instruction, as XLA's HloCostAnalysis counts it: a loop body once, the most expensive branch,
// collectives as local work. Sums are f32, as in XLA, so that the totals of large modules agree to the last digit.
#pragma once

#include <span>

#include "core/ir/module.h"

namespace shoal::internal {

struct OpCost {
  float flops = 0;
  float transcendentals = 0;
  float bytes = 0;               // "bytes accessed"
  double read = 0, written = 0;  // the bytes of operands and of the result; XLA does not separate them

  void Add(const OpCost& other);
  // Takes the maximum of each count.
  void Max(const OpCost& other);
};

// Computes the cost of one instruction. The initial cost is to read all operands and to write the result.
class OpCostBuilder {
 public:
  virtual ~OpCostBuilder() = default;
  // The cost of all instructions of a computation.
  virtual OpCost Of(const Computation& callee) = 0;
  virtual std::span<const Instruction* const> UsersOf(const Instruction& hlo) = 0;

  // Replaces the initial memory traffic.
  void SetTraffic(double bytes_read, double bytes_written);
  void NoTraffic() { SetTraffic(0, 0); }
  void SetFlops(int64_t flops) { cost.flops = static_cast<float>(flops); }
  // Adds the flops and transcendentals of `times` applications of a function, but not their memory traffic.
  void AddApplications(const Computation& function, int64_t times);

  OpCost cost;
};

// Bytes of an array; for a tuple, of its table of pointers. 0 for an array without a layout.
int64_t BytesOf(const Shape& shape);
// Bytes of all arrays in `shape`.
double LeafBytesOf(const Shape& shape);

// The initial cost of an instruction: reads all operands, writes the result.
OpCost DefaultCost(const Instruction& hlo);

}  // namespace shoal::internal
