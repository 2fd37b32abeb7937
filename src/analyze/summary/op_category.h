// Classifies instructions by their importance for an overview of a module.
#pragma once

#include <string>

#include "analyze/summary/fusion_work.h"

namespace shoal::internal {

enum class OpCategory : uint8_t {
  kNone,           // tuples, parameters, … and unfused ops that only move or map elements
  kCommunication,  // communication with other devices or with the host
  kComputation,    // dots, convolutions, library calls, fusions, sorts, …
};
OpCategory OpCategoryOf(const Instruction& hlo, const FusionWorks& works);
// True if flops measure the work of the instruction better than memory bytes.
bool IsArithmetic(const Instruction& hlo, const FusionWorks& works);

// Returns the op that an async-start, async-update or async-done wraps, if it wraps only one. Else returns `hlo`.
const Instruction& Unwrapped(const Instruction& hlo);
// Returns a label such as "dot", "fusion: dot + bias" or "custom-call __cublas$gemm".
std::string LabelOf(const Instruction& hlo, const FusionWorks& works);
// Returns the kind under which totals count an instruction, such as "dot", "dot fusion" or "__cublas$gemm".
std::string TotalsKindOf(const Instruction& hlo, const FusionWorks& works);

}  // namespace shoal::internal
