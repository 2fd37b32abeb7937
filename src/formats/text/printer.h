// Writes a Module as HLO text: by default byte for byte what XLA prints.
#pragma once

#include <string>

#include "core/ir/module.h"

namespace shoal::internal {

struct PrintOptions {
  bool elide_large_constants = false;  // {...} for more than 10 elements, as XLA's own default
  // The short form leaves these out.
  bool percent = true;         // % before names
  bool signatures = true;      // (p: f32[2]) -> f32[2]
  bool metadata = true;        // and the stack frame tables
  bool index_comments = true;  // /*index=5*/ among operands
  // XLA numbers stack frames and orders computations anew when it reads a text.
  bool renumber_frames = true;
  bool reorder_computations = true;

  static PrintOptions Short() { return {false, false, false, false, false, true, true}; }
};

std::string PrintModule(const Module& module, const PrintOptions& options = {});

// The instructions alone, each on a line of its own, in the order of the module's computations, by the names they were
// written with and with large constants elided.
std::string PrintInstructions(const Module& module);

// The text is exactly what XLA printed, in whatever order it had its computations and stack frames at that time; a
// protobuf always is.
bool IsCanonicalText(const Module& module);
// As PrintModule, but a text that is as XLA printed it stays as it is.
std::string PrintModuleLikeSource(const Module& module, PrintOptions options = {});

}  // namespace shoal::internal
