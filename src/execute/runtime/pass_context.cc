#include "execute/runtime/pass_context.h"

#include "compile/program/routine.h"
#include "execute/interp/run.h"

namespace shoal::internal {

PassContext EnginePassContext() {
  PassContext context;
  context.evaluate = EvaluateConstantModule;
  context.compiles_as_unit = [](const Instruction& hlo) { return RoutineOf(hlo) != nullptr; };
  return context;
}

}  // namespace shoal::internal
