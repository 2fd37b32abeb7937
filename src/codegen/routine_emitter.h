// A Routine as an LLVM function of type RoutineCode.
#pragma once

#include <string>

#include "llvm/IR/Module.h"
#include "program/routine.h"

namespace shoal {

void EmitRoutineFunction(const Routine& routine, llvm::Module& module, const std::string& name);

}  // namespace shoal
