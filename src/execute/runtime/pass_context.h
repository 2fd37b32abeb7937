// The services of the engine for passes.
#pragma once

#include "transform/passes/pass.h"

namespace shoal::internal {

PassContext EnginePassContext();

}  // namespace shoal::internal
