// Computes the work that a schedule places between an async start and its done.
#pragma once

#include "analyze/cost/cost.h"

namespace shoal::internal {

struct Overlap {
  int64_t instructions = 0;  // number of instructions that do work; a loop, call or fusion counts as one
  double flops = 0;          // flops of these instructions, including callees
  bool crosses_iteration = false;  // true if the done is in the next iteration of a loop

  bool nothing() const { return instructions == 0; }
};

class Overlaps {
 public:
  Overlaps(const ModuleCost& cost, const ExecutionCounts& executions);

  // Returns the work between a start and its done, in schedule order. If the done is in a computation called after the
  // start, returns the work up to that call plus the callee's work before the done. If the done precedes the start
  // because it belongs to the next iteration of a loop, returns the work after the start plus the work before the done.
  Overlap Of(const Instruction& start, const Instruction& done);

 private:
  // For each instruction of a computation, the sums over the instructions before it.
  struct PrefixSums {
    std::vector<int64_t> instructions;
    std::vector<double> flops;
  };
  double FlopsOf(const Instruction& hlo) const;
  const PrefixSums& PrefixSumsOf(const Computation& computation);
  void Add(const PrefixSums& sums, size_t from, size_t to, Overlap& overlap) const;

  const ExecutionCounts& executions_;
  std::unordered_map<const Instruction*, double> flops_;              // flops of one execution
  std::unordered_map<const Computation*, double> computation_flops_;  // including callees
  std::unordered_map<const Computation*, PrefixSums> sums_;
};

}  // namespace shoal::internal
