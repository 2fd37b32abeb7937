// Matches start and done ops of asynchronous work: copies, send and recv, collectives and async computations.
#pragma once

#include <unordered_map>

#include "core/ir/call_graph.h"
#include "core/ops/async_pairs.h"

namespace shoal::internal {

class AsyncRegions {
 public:
  explicit AsyncRegions(const CallGraph& calls);

  // Returns the first matching done after `start`, which may be in a computation called after `start`. Otherwise
  // returns a matching done before `start` (in the next iteration) or elsewhere. Returns null if no done matches.
  const Instruction* DoneOf(const Instruction& start) const;

 private:
  class Trace;
  int64_t Distance(const Instruction& start, const Instruction& done) const;
  void RecordDone(const Instruction& start, const Instruction& done);

  const CallGraph& calls_;
  std::unordered_map<const Instruction*, const Instruction*> dones_;
};

// Returns the instruction of `computation` that runs `hlo`: `hlo` itself, or the direct or indirect caller of the
// computation that contains `hlo`. Returns null if there is no such instruction.
const Instruction* CallerWithin(const Computation& computation, const Instruction& hlo, const CallGraph& calls);

}  // namespace shoal::internal
