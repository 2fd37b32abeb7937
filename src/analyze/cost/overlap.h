// What runs while something async is under way.
#pragma once

#include "analyze/cost/cost.h"

namespace shoal::internal {

struct Overlap {
  int64_t instructions = 0;  // that do work; loops, calls and fusions count as one
  double flops = 0;          // of all that they run
  bool around_loop = false;  // it ends in the next round of a loop

  bool nothing() const { return instructions == 0; }
};

class Overlaps {
 public:
  Overlaps(const ModuleCost& cost, const ExecutionCounts& executions);

  // Between a start and its done, in the order of the schedule. Where the done stands in a computation that is called
  // after the start, up to that call and from there to the done; where it stands before the start, in the next round of
  // a loop, what follows the one and precedes the other.
  Overlap Of(const Instruction& start, const Instruction& done);

 private:
  // Sums over the instructions of a computation before each one.
  struct Sums {
    std::vector<int64_t> instructions;
    std::vector<double> flops;
  };
  double FlopsOf(const Instruction& hlo) const;
  const Sums& SumsOf(const Computation& computation);
  void Add(const Sums& sums, size_t from, size_t to, Overlap& overlap) const;

  const ExecutionCounts& executions_;
  std::unordered_map<const Instruction*, double> flops_;              // of an instruction by itself
  std::unordered_map<const Computation*, double> computation_flops_;  // run once, with all it calls
  std::unordered_map<const Computation*, Sums> sums_;
};

}  // namespace shoal::internal
