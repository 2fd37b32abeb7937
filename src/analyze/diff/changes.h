// What is different between two modules, instruction by instruction, and the same change in many places once.
#pragma once

#include "analyze/diff/match.h"

namespace shoal::internal {

enum class ChangeKind : uint8_t {
  kHeader,     // devices, aliases, donated buffers
  kTrips,      // of a loop
  kRemoved,    // an op that only A has
  kAdded,      // an op that only B has
  kReplaced,   // by another op with the same operands, type and users
  kMoved,      // into a loop, out of one, or into another
  kFused,      // it is in a fusion now
  kUnfused,    // it was
  kRegrouped,  // it is in a fusion with other ops
  kType,       // element type or dimensions
  kLayout,     // the same array, laid out otherwise
  kPropagated,    // type or layout, since an operand's has changed
  kGroups,     // devices of a collective
  kSharding,
  kAttribute,
  kValue,     // of a constant
  kOperands,  // other values, or in another order
  kForwarding,  // tuples, their elements and parameters: how values are handed on
};
std::string_view ToString(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  const Instruction* a = nullptr;  // null: only in B, or not about an instruction
  const Instruction* b = nullptr;
  std::string what;           // of an attribute or a header field its name
  std::string before, after;  // types, values, loops
  int64_t count = 1;          // so many instructions changed like this one

  const Instruction* instruction() const { return b != nullptr ? b : a; }
};

// One for each instruction and difference. Empty if the modules are the same but for names, order, channel numbers and
// metadata.
std::vector<Change> EveryChange(const DiffSide& a, const DiffSide& b);
// Alike ones as one. By kind; of each kind first the ops that weigh most, then what is most frequent.
std::vector<Change> Folded(const std::vector<Change>& changes);
std::vector<Change> ChangesBetween(const DiffSide& a, const DiffSide& b);

// Those of types, values and attributes of two instructions that are partners.
void AddAttrChanges(const DiffSide& a, const DiffSide& b, const Instruction& in_a, const Instruction& in_b,
                    std::vector<Change>& changes);
// Of what stands in the headers.
void AddHeaderChanges(const Module& a, const Module& b, std::vector<Change>& changes);

}  // namespace shoal::internal
