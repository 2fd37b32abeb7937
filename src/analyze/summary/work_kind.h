// What kind of work an instruction is, in the five classes that a page colours by.
#pragma once

#include "analyze/summary/op_category.h"

namespace shoal::internal {

enum class WorkKind : uint8_t {
  kGemm,      // matrix products, convolutions
  kCollective,   // anything between devices
  kElementwise,  // maps, reductions, random bits, decompositions
  kMove,         // copies, slices, gathers: data changes its place
  kLibraryCall,  // custom calls
  kControl,      // loops, branches, calls: the work is that of what they run
  kNone,         // parameters, constants, tuples
};
inline constexpr std::string_view kWorkKindNames[] = {"matrix product", "collective", "elementwise, reduce",
                                                      "moves data",     "library call", "loop, call", "no work"};

WorkKind WorkKindOf(const Instruction& hlo, FusionWorks& works);

}  // namespace shoal::internal
