// The work that overlaps async operations.
#pragma once

#include "analyze/cost/cost.h"

namespace shoal::internal {

struct Overlap {
  int64_t instructions = 0;  // number that do work; a loop, call or fusion counts as one
  double flops = 0;          // flops of these instructions, including callees
  bool crosses_iteration = false;  // the done is in the next iteration of a loop

  bool nothing() const { return instructions == 0; }
};

class Overlaps {
 public:
  Overlaps(const ModuleCost& cost, const ExecutionCounts& executions);

  // The work between a start and its done, in schedule order. If a computation called after the start contains the
  // done, this is the work up to that call and the callee's work before the done. If the done precedes the start, since
  // it is in the next iteration of a loop, this is the work after the start and the work before the done.
  Overlap Of(const Instruction& start, const Instruction& done);

 private:
  // For each instruction of a computation, the sums over those before it.
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
