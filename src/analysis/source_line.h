// Where in the user's program an instruction came from.
#pragma once

#include <string>

#include "ir/module.h"

namespace shoal {

// "model.py:42", from metadata or, in newer dumps, from the stack-frame tables; empty if the dump does not say.
std::string SourceLine(const Instruction& hlo, const Module& module);
// "jit(step)/dot_general"; empty if the dump does not say.
std::string_view OpName(const Instruction& hlo);

}  // namespace shoal
