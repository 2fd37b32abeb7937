// Instructions and computations that are alike but for their names and where they came from.
#pragma once

#include "core/ir/instruction.h"

namespace shoal::internal {

// Compound attributes are only the same if they are one object, and large constants too: that is less, not wrong.
bool HaveEqualAttributes(const Instruction& a, const Instruction& b);

// Of computations of one module: they have the same instructions in the same order, and compute the same.
bool HaveEqualBodies(const Computation& a, const Computation& b);

// For maps of computations by what they compute.
struct BodyHash {
  size_t operator()(const Computation* computation) const;
};
struct BodyEqual {
  bool operator()(const Computation* a, const Computation* b) const { return HaveEqualBodies(*a, *b); }
};

}  // namespace shoal::internal
