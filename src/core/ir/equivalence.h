// Equality of instructions and computations, ignoring names and metadata.
#pragma once

#include "core/ir/instruction.h"

namespace shoal::internal {

// Conservative: compound attributes and large constants count as equal only if they are the same object.
bool HaveEqualAttributes(const Instruction& a, const Instruction& b);

// True if two computations of one module have equal instructions in the same order, and so compute the same function.
bool HaveEqualBodies(const Computation& a, const Computation& b);

// Hash and equality for maps whose keys are computations, compared by body.
struct BodyHash {
  size_t operator()(const Computation* computation) const;
};
struct BodyEqual {
  bool operator()(const Computation* a, const Computation* b) const { return HaveEqualBodies(*a, *b); }
};

}  // namespace shoal::internal
