// The passes that run before a module is lowered, in order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transform/passes/pass.h"

namespace shoal::internal {

// The table of contents of the optimiser.
std::span<const Pass> EnginePipeline();
// What makes collectives of a partitioned module fast, and a schedule that hides them: not part of the above.
std::span<const Pass> CommunicationPipeline();
// Of either.
const Pass* PassByName(std::string_view name);

struct PipelineOptions {
  std::vector<std::string> disabled;  // by name
  bool verify = false;                // after each pass
  PassContext context;
  // After each pass: whether it changed something, and how long it took.
  std::function<void(const Pass& pass, bool changed, double seconds)> after;
};

// Runs them; true if any changed something. A failure reads "after fuse-loops: …".
Result<bool> RunPipeline(Module& module, std::span<const Pass> passes, const PipelineOptions& options = {});

}  // namespace shoal::internal
