// Classifies instructions by their importance in an overview of a module.
#pragma once

#include <string>

#include "analyze/summary/fusion_work.h"

namespace shoal::internal {

enum class OpCategory : uint8_t {
  kNone,           // bookkeeping, and unfused ops that move or map elements
  kCommunication,  // with other devices or with the host
  kComputation,    // dots, convolutions, library calls, fusions, sorts, …
};
OpCategory OpCategoryOf(const Instruction& hlo, FusionWorks& works);
// True if flops describe the work of the instruction better than bytes of memory.
bool IsArithmetic(const Instruction& hlo, FusionWorks& works);

// The op wrapped by an async-start, -update or -done, if it is a single one; else the instruction itself.
const Instruction& Unwrapped(const Instruction& hlo);
// The label of an instruction: "dot", "fusion: dot + bias", "custom-call __cublas$gemm".
std::string LabelOf(const Instruction& hlo, FusionWorks& works);
// The kind under which totals count an instruction: "dot", "dot fusion", "__cublas$gemm".
std::string TotalsKindOf(const Instruction& hlo, FusionWorks& works);

}  // namespace shoal::internal
