// Which instructions matter to somebody who asks what a module does.
#pragma once

#include <string>

#include "analyze/summary/fusion_work.h"

namespace shoal::internal {

enum class OpCategory : uint8_t {
  kNone,           // bookkeeping, and what moves or maps elements by itself
  kCommunication,  // with other devices or with the host
  kComputation,    // products, convolutions, library calls, fusions, sorts, …
};
OpCategory OpCategoryOf(const Instruction& hlo, FusionWorks& works);
// Whether its work is best said in flops, not in bytes of memory.
bool IsArithmetic(const Instruction& hlo, FusionWorks& works);

// What stands behind an async-start, -update or -done where it is one op: that op. Else the instruction itself.
const Instruction& Unwrapped(const Instruction& hlo);
// What an instruction is called: "dot", "fusion: dot + bias", "custom-call __cublas$gemm".
std::string LabelOf(const Instruction& hlo, FusionWorks& works);
// What it is counted as: "dot", "dot fusion", "__cublas$gemm".
std::string CountedAs(const Instruction& hlo, FusionWorks& works);

}  // namespace shoal::internal
