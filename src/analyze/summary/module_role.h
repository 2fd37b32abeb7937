// The role of a module in a training program. Frameworks give all modules the same name (SyncTensorsGraph.83, jit_f).
#pragma once

#include <string>

#include "analyze/summary/module_facts.h"

namespace shoal::internal {

enum class ModuleRole : uint8_t { kUnknown, kForward, kGradient, kTrainStep, kOptimizer };
// "train step"; empty for kUnknown.
std::string_view ToString(ModuleRole role);

// Names of backward ops tell a gradient. Results that are parameters after an update tell an optimizer; the
// products of both passes and such results tell a train step if there are no names.
ModuleRole RoleOf(const ModuleFacts& facts);

// The line of the user's program with the largest cost: "model.py:12". Empty if no line is known.
std::string MainLineOf(const ModuleFacts& facts);

}  // namespace shoal::internal
