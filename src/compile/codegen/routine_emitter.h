// Emits a Routine as an LLVM function of type RoutineCode.
#pragma once

#include <string>

#include "compile/program/routine.h"
#include "llvm/IR/Module.h"

namespace shoal::internal {

void EmitRoutineFunction(const Routine& routine, llvm::Module& module, const std::string& name);

}  // namespace shoal::internal
