// Matches starts and dones of asynchronous work: copies, send and recv, collectives and computations that consist of a
// start and a done.
#pragma once

#include <unordered_map>

#include "core/ir/call_graph.h"
#include "core/ops/async_pairs.h"

namespace shoal::internal {

class AsyncRegions {
 public:
  explicit AsyncRegions(const CallGraph& calls);

  // Returns the done that matches `start`: the first one after it, including in computations called in between. Else
  // returns a done in the next iteration of a loop, or anywhere. Null if there is none at all.
  const Instruction* DoneOf(const Instruction& start) const;

 private:
  class Trace;
  int64_t Distance(const Instruction& start, const Instruction& done) const;
  void RecordDone(const Instruction& start, const Instruction& done);

  const CallGraph& calls_;
  std::unordered_map<const Instruction*, const Instruction*> dones_;
};

// The instruction of `computation` that runs `hlo`: `hlo` itself, or the direct or indirect caller of the computation
// that contains it. Null if there is none.
const Instruction* CallerWithin(const Computation& computation, const Instruction& hlo, const CallGraph& calls);

}  // namespace shoal::internal
