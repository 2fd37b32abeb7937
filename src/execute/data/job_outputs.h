// The results of a run across processes, in one place.
#pragma once

#include "core/ir/module.h"
#include "execute/data/outputs.h"

namespace shoal::internal {

class Job;

// The first process gets every device's result; the others keep their own.
void GatherResults(Job& job, const Placement& placement, const Module& module, std::vector<Value>& results);

// Every process comes with the outputs of its own devices; the first gets all of them, those that are the same as one.
// Only what describes them moves.
std::vector<Output> GatherOutputs(Job& job, std::vector<Output> own);

}  // namespace shoal::internal
