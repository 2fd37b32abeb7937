// Finds the differences between two modules, per instruction or with equal changes merged.
#pragma once

#include "analyze/diff/match.h"

namespace shoal::internal {

enum class ChangeKind : uint8_t {
  kHeader,      // the device counts, aliases or donated buffers changed
  kTrips,       // the trip count of a loop changed
  kRemoved,     // only A has the op
  kAdded,       // only B has the op
  kReplaced,    // a different op with equal operands, type and users replaces the op
  kMoved,       // the op moved into or out of a loop, or to another loop
  kFused,       // the op is fused only in B
  kUnfused,     // the op is fused only in A
  kRegrouped,   // the op is fused in both modules, but with different ops
  kType,        // the element type or the dimensions changed
  kLayout,      // only the layout of the array changed
  kPropagated,  // the type or layout changed because an operand's type or layout changed
  kGroups,      // the device groups of a collective changed
  kSharding,
  kAttribute,
  kValue,       // the value of a constant changed
  kOperands,    // the operands are other values or have another order
  kForwarding,  // the number of ops that only forward values changed, such as tuples and get-tuple-elements
};
std::string_view ToString(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  const Instruction* a = nullptr;  // null if only B has it, or if the change does not concern an instruction
  const Instruction* b = nullptr;
  std::string what;           // name of the attribute or header field
  std::string before, after;  // text of the type, value, loop, … in A and in B
  int64_t count = 1;          // number of instructions with this change

  const Instruction* instruction() const { return b != nullptr ? b : a; }
};

// Lists each difference of each instruction as one change. The list is empty if the modules differ at most in names,
// text order, channel numbers and metadata.
std::vector<Change> EveryChange(const DiffSide& a, const DiffSide& b);
// Merges equal changes and sorts them by kind. Within a kind, changes of expensive ops come first, then frequent ones.
std::vector<Change> MergeEqualChanges(const std::vector<Change>& changes);
std::vector<Change> ChangesBetween(const DiffSide& a, const DiffSide& b);

// Adds the changes in type, value and attributes between two matched instructions.
void AddAttrChanges(const DiffSide& a, const DiffSide& b, const Instruction& in_a, const Instruction& in_b,
                    std::vector<Change>& changes);
void AddHeaderChanges(const Module& a, const Module& b, std::vector<Change>& changes);

}  // namespace shoal::internal
