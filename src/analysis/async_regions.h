// Where work that goes on beside the program begins and ends: copies, send and recv, collectives and computations that
// are written as a start and a done.
#pragma once

#include <unordered_map>

#include "analysis/call_graph.h"

namespace shoal {

class AsyncRegions {
 public:
  explicit AsyncRegions(const CallGraph& calls);

  // Who waits for what `start` began: in its own computation after it where there is such a done, else the first one
  // that its result reaches, around a loop or in another computation. Null if nobody waits.
  const Instruction* DoneOf(const Instruction& start) const;

 private:
  class Trace;
  void Join(const Instruction& start, const Instruction& done);

  std::unordered_map<const Instruction*, const Instruction*> dones_;
};

// all-reduce-start, async-start, copy-start, send, …: what a done of its own waits for.
bool IsAsyncStart(const Instruction& hlo);
bool IsAsyncDone(const Instruction& hlo);

}  // namespace shoal
