// The differences between two modules: per instruction, or with equal changes merged.
#pragma once

#include "analyze/diff/match.h"

namespace shoal::internal {

enum class ChangeKind : uint8_t {
  kHeader,      // devices, aliases, donated buffers
  kTrips,       // trip count of a loop
  kRemoved,     // an op that only A has
  kAdded,       // an op that only B has
  kReplaced,    // by a different op with equal operands, type and users
  kMoved,       // into a loop, out of one, or into another
  kFused,       // fused only in B
  kUnfused,     // fused only in A
  kRegrouped,   // fused in both, but with different ops
  kType,        // element type or dimensions
  kLayout,      // only the layout of the array
  kPropagated,  // type or layout changed because an operand's did
  kGroups,      // device groups of a collective
  kSharding,
  kAttribute,
  kValue,       // of a constant
  kOperands,    // different values or a different order
  kForwarding,  // ops that only forward values: tuples, their elements and parameters
};
std::string_view ToString(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  const Instruction* a = nullptr;  // null if only in B, or if the change is not in an instruction
  const Instruction* b = nullptr;
  std::string what;           // name of the attribute or header field
  std::string before, after;  // types, values, loops
  int64_t count = 1;          // number of instructions with this change

  const Instruction* instruction() const { return b != nullptr ? b : a; }
};

// One change per instruction and difference. Empty if the modules are equal up to names, order, channel numbers and
// metadata.
std::vector<Change> EveryChange(const DiffSide& a, const DiffSide& b);
// Merges equal changes. Sorts by kind; within a kind, heavy ops come first, then the most frequent changes.
std::vector<Change> MergeEqualChanges(const std::vector<Change>& changes);
std::vector<Change> ChangesBetween(const DiffSide& a, const DiffSide& b);

// Adds the changes in type, value and attributes between two matched instructions.
void AddAttrChanges(const DiffSide& a, const DiffSide& b, const Instruction& in_a, const Instruction& in_b,
                    std::vector<Change>& changes);
// Adds the changes between the module headers.
void AddHeaderChanges(const Module& a, const Module& b, std::vector<Change>& changes);

}  // namespace shoal::internal
