// The kind of work of an instruction. The HTML report has a color for each kind.
#pragma once

#include "analyze/summary/op_category.h"

namespace shoal::internal {

enum class WorkKind : uint8_t {
  kGemm,         // dots, convolutions
  kCollective,   // any communication between devices
  kElementwise,  // maps, reductions, random bits, decompositions
  kMove,         // copies, slices, gathers
  kLibraryCall,  // custom calls
  kControl,      // loops, branches and calls, whose computations do the work
  kNone,         // parameters, constants, tuples
};

// A dot, a convolution, or a call of a library that computes one.
bool IsMatrixProduct(const Instruction& hlo);

WorkKind WorkKindOf(const Instruction& hlo, const FusionWorks& works);

}  // namespace shoal::internal
