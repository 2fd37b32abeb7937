// Prints a Module as HLO text: by default, byte for byte as XLA prints it.
#pragma once

#include <string>

#include "core/ir/module.h"

namespace shoal::internal {

struct PrintOptions {
  bool elide_large_constants = false;  // {...} for more than 10 elements, as XLA does by default
  // The short form omits these.
  bool percent = true;         // % before names
  bool signatures = true;      // (p: f32[2]) -> f32[2]
  bool metadata = true;        // metadata={…} and the stack frame tables
  bool index_comments = true;  // /*index=5*/ among operands
  // XLA renumbers stack frames and reorders computations when it parses a text.
  bool renumber_frames = true;
  bool reorder_computations = true;

  static PrintOptions Short() { return {false, false, false, false, false, true, true}; }
};

std::string PrintModule(const Module& module, const PrintOptions& options = {});

// Prints only the instructions, one per line, in the order of the module's computations, with names as written and with
// large constants elided.
std::string PrintInstructions(const Module& module);

// True if the text is exactly as XLA prints it, with its computations and stack frames in any order. Always true for a
// protobuf.
bool IsCanonicalText(const Module& module);
// Like PrintModule, but keeps a text unchanged that is already as XLA prints it.
std::string PrintModuleLikeSource(const Module& module, PrintOptions options = {});

}  // namespace shoal::internal
