// Finds the op that computes the elements of a buffer, when a loop fills the buffer iteration by iteration.
#pragma once

#include "analyze/memory/memory.h"
#include "core/ir/call_graph.h"
#include "core/ir/users.h"

namespace shoal::internal {

class BufferProducers {
 public:
  explicit BufferProducers(const Module& module) : calls_(module) {}

  // The op whose result fills the buffer. For the state of a loop that stacks one value per iteration, as the residuals
  // of a scan, this is the op in the body that computes the value. Null if it is the defining instruction itself.
  const Instruction* Of(const LiveBuffer& buffer);
  // True if the buffer of the last call holds a stack of results, one per iteration of a loop.
  bool is_stacked() const { return is_stacked_; }

 private:
  const Instruction* OfValue(const Instruction& hlo, int64_t index, int depth);
  const Instruction* OfLoopElement(const Instruction& loop, int64_t index, int depth);
  const Instruction* OfUpdate(const Instruction& update, int depth);
  const Instruction* OfFusion(const Instruction& fusion, int64_t index, int depth);
  const Instruction* OfCall(const Instruction& value, const Instruction& call, int64_t index, int depth);
  const Instruction* ArgumentOf(const Instruction& parameter) const;
  const Instruction* LoopOf(const Instruction& parameter) const;
  std::pair<const Instruction*, int64_t> InitializedLoop(const Instruction& hlo);

  CallGraph calls_;
  Users users_;
  bool is_stacked_ = false;
};

}  // namespace shoal::internal
