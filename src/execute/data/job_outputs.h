// Gathers the results of a run across processes.
#pragma once

#include "core/ir/module.h"
#include "execute/data/outputs.h"

namespace shoal::internal {

class Job;

// The first process receives every device's result. The other processes keep only their own results.
void GatherResults(Job& job, const Placement& placement, const Module& module, std::vector<Value>& results);

// Collective. Each process passes the outputs of its own devices. The first process receives all outputs, with
// identical outputs merged. Only summaries are transferred, not elements.
std::vector<Output> GatherOutputs(Job& job, std::vector<Output> own);

}  // namespace shoal::internal
