// The reason for which the interpreter evaluates an instruction of a Program.
#pragma once

#include <string>

#include "core/ir/instruction.h"

namespace shoal::internal {

// Why `hlo` has no kernel, routine or library function, such as "dynamic sizes". Precondition: it has none.
std::string EvaluationReason(const Instruction& hlo);

}  // namespace shoal::internal
