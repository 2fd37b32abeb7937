// Warnings about generated values and other deviations of a run. Each is located at the first such instruction.
#pragma once

#include "core/base/diags.h"
#include "execute/interp/run.h"

namespace shoal::internal {

// Instructions with several float types, except those that no run evaluates because their values are unused.
struct MixedFloats {
  int64_t count = 0;
  const Instruction* first = nullptr;
};
MixedFloats FindMixedFloats(const Module& module);

struct ElidedLiterals {
  int64_t count = 0;  // number of literals that a run fills with generated numbers
  const Instruction* first = nullptr;
};
ElidedLiterals FindElidedLiterals(const Module& module);
// Fails if the module has elided literals: its results cannot be compared with those of another module.
Status CheckLiterals(const Module& module);

// ElidedLiteralsError rejects literals that were elided from the dump. ElidedWarning reports generated replacements.
Diag ElidedLiteralsError(const ElidedLiterals& elided);
Diag ElidedWarning(const ElidedLiterals& elided);
// Warnings about mixed float types, endless loops that were exited, and generated results.
Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed);

// One sentence if the interpreter took a large part of a run on `devices` devices; empty otherwise.
std::string FallbackMessage(const RunStats& stats, int64_t devices);

}  // namespace shoal::internal
