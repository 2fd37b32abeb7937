// Collectives of few bytes between processes with one device each: what the general way would work out anew each time
// (who is where, what is sent to whom, which types) is kept from one time to the next.
#pragma once

#include "execute/collectives/fast_rendezvous.h"
#include "execute/collectives/collective_runtime.h"

namespace shoal::internal {

// What such a collective does with the operands.
struct SmallCollectiveTraits {
  bool folds = false;   // else the parts lie side by side in the result
  bool cuts = false;    // each member gets a part of the operand, else all get all operands
  bool shares = false;  // in one process all members have the same result
};

class SmallMessageCollective {
 public:
  // Of an instruction and a device. Null if it is none, or does not declare what it gives: the general way says so. Where
  // the form folds, `fold` is called from the device's thread.
  static std::shared_ptr<SmallMessageCollective> New(CollectiveRuntime& world, const Instruction& hlo, int64_t device, const SmallCollectiveTraits& form,
                                              FoldPtr fold);

  // Arrives, if all others come soon. Else false, and nothing has happened.
  bool TryStart(std::span<const Value> operands);
  // The result, when all have come, and the operands are taken. It counts for this thread's device.
  Result<Value> Take(std::span<Value> operands);

 private:
  SmallMessageCollective(CollectiveRuntime& world, const Instruction& hlo, int64_t device, const SmallCollectiveTraits& form, FoldPtr fold)
      : world_(world), hlo_(hlo), device_(device), form_(form), fold_(std::move(fold)) {}

  bool Divide(int64_t members);
  std::string_view PartFor(std::span<const Value> operands, size_t member) const;
  std::string_view PartOf(std::span<const Value> operands, size_t member) const;
  using Made = absl::InlinedVector<Array, 1>;
  bool FoldPlainly(std::span<const Value> operands, Made& sums) const;
  Status Fold(std::span<const Value> operands, Made& sums) const;
  Array SideBySide(std::span<const Value> operands) const;

  CollectiveRuntime& world_;
  const Instruction& hlo_;
  const int64_t device_;
  const SmallCollectiveTraits form_;
  const FoldPtr fold_;
  ArrayTypes operands_, parts_, results_;
  std::unique_ptr<FastRendezvous> meeting_;
  std::vector<size_t> process_of_;    // of each member
  std::vector<std::string_view> to_;  // by process: what it is sent
  std::string packed_;                // of several operands
  Traffic traffic_;
};

}  // namespace shoal::internal
