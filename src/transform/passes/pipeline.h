// The pass pipelines that run before a module is lowered.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transform/passes/pass.h"

namespace shoal::internal {

// The optimizer's passes, in order.
std::span<const Pass> EnginePipeline();
// The passes that optimize collectives of a partitioned module and hide their latency. Not part of EnginePipeline.
std::span<const Pass> CommunicationPipeline();
// The passes of CommunicationPipeline before collectives become async: they determine the kernels and the collectives.
std::span<const Pass> KernelPipeline();
// The passes that undo the rewrites of XLA:CPU: fusions, types widened to f32, and the schedule.
std::span<const Pass> CpuUndoPipeline();
// Finds a pass of either pipeline; null if there is none with this name.
const Pass* PassByName(std::string_view name);

struct PipelineOptions {
  std::vector<std::string> disabled;  // pass names
  bool verify = false;                // verify the module after each pass that changed it
  PassContext context;
  // Called after each pass. `changed`: the pass changed the module.
  std::function<void(const Pass& pass, bool changed, double seconds)> after;
};

// Runs the passes in order; true if any changes the module. Errors begin with "PASS: ", verifier errors "after PASS: ".
Result<bool> RunPipeline(Module& module, std::span<const Pass> passes, const PipelineOptions& options = {});

}  // namespace shoal::internal
