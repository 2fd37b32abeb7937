// Small-message collectives between processes with one device each. They compute the members' processes, the parts to
// send and the types only once, while the general implementation computes them in each execution.
#pragma once

#include "execute/collectives/fast_rendezvous.h"
#include "execute/collectives/collective_runtime.h"

namespace shoal::internal {

// The way in which a small-message collective treats its operands.
struct SmallCollectiveTraits {
  bool folds = false;   // folds the parts instead of concatenating them
  bool splits = false;  // each member receives a part of the operand instead of all operands
  bool shares = false;  // members in one process share the result
};

class SmallMessageCollective {
 public:
  // Prepares an instruction's executions on one device. Returns null if the instruction is not eligible or its declared
  // shape is wrong, which the general implementation reports. If `traits.folds`, calls `fold` on the device's thread.
  static std::shared_ptr<SmallMessageCollective> New(CollectiveRuntime& runtime, const Instruction& hlo, int64_t device,
                                                     const SmallCollectiveTraits& traits, FoldPtr fold);

  // Arrives and briefly waits for the others. Returns false if a member is late: the caller must then arrive normally.
  bool TryStart(std::span<const Value> operands);
  // After TryStart returned true: consumes the operands and returns the result, charged to this thread's device.
  Result<Value> Take(std::span<Value> operands);

 private:
  SmallMessageCollective(CollectiveRuntime& runtime, const Instruction& hlo, int64_t device,
                         const SmallCollectiveTraits& traits, FoldPtr fold)
      : runtime_(runtime), hlo_(hlo), device_(device), traits_(traits), fold_(std::move(fold)) {}

  bool SetTypes(int64_t members);
  std::string_view PartTo(std::span<const Value> operands, size_t member) const;
  std::string_view PartFrom(std::span<const Value> operands, size_t member) const;
  using ResultArrays = absl::InlinedVector<Array, 1>;
  bool FoldSameType(std::span<const Value> operands, ResultArrays& sums) const;
  Status Fold(std::span<const Value> operands, ResultArrays& sums) const;
  Array Concatenate(std::span<const Value> operands) const;

  CollectiveRuntime& runtime_;
  const Instruction& hlo_;
  const int64_t device_;
  const SmallCollectiveTraits traits_;
  const FoldPtr fold_;
  ArrayTypes operands_, parts_, results_;
  std::unique_ptr<FastRendezvous> fast_;
  std::vector<size_t> process_of_;          // for each member, its process
  std::vector<std::string_view> outgoing_;  // for each process, the bytes to send
  std::string packed_;                      // the concatenation of several operands
  Traffic traffic_;
};

}  // namespace shoal::internal
