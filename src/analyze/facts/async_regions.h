// Where work that goes on beside the program begins and ends: copies, send and recv, collectives and computations that
// are written as a start and a done.
#pragma once

#include <unordered_map>

#include "core/ir/call_graph.h"
#include "core/ops/async_pairs.h"

namespace shoal::internal {

class AsyncRegions {
 public:
  explicit AsyncRegions(const CallGraph& calls);

  // Who waits for what `start` began: the first one after it, also if that stands in a computation that is called in
  // between; else one in the next round of a loop, or anywhere. Null if nobody waits.
  const Instruction* DoneOf(const Instruction& start) const;

 private:
  class Trace;
  int64_t Distance(const Instruction& start, const Instruction& done) const;
  void Join(const Instruction& start, const Instruction& done);

  const CallGraph& calls_;
  std::unordered_map<const Instruction*, const Instruction*> dones_;
};

// The instruction of `computation` in the course of which `hlo` runs: itself, or the one that calls, directly or not,
// the computation it stands in. Null if there is none.
const Instruction* CallerWithin(const Computation& computation, const Instruction& hlo, const CallGraph& calls);

}  // namespace shoal::internal
