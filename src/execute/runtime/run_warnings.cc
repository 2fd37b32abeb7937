#include "execute/runtime/run_warnings.h"

#include "core/base/strings.h"

namespace shoal::internal {

Diag ElidedLiteralsError(const ElidedLiterals& elided) {
  return Fail(elided.first->at, "",
              StrCat("literal ", elided.first->name, " was elided from the dump ({...})",
                     elided.count == 1 ? "" : StrCat(", as the first of ", elided.count),
                     "; without --fill_elided=false shoal generates values"));
}

Diag ElidedWarning(const ElidedLiterals& elided) {
  Diag warning = Fail(elided.first->at, "",
                      StrCat(elided.count, elided.count == 1 ? " literal was" : " literals were",
                             " elided from the dump ({...}) and filled with generated numbers; this is the first"));
  warning.severity = Severity::kWarning;
  return warning;
}

Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed) {
  Diags diags;
  if (mixed.count > 0)
    diags.Warn(mixed.first->at, "",
               StrCat(mixed.count, mixed.count == 1 ? " instruction mixes" : " instructions mix",
                      " float types; the result is computed in the widest type and rounded once to the declared one",
                      mixed.count == 1 ? "" : "; this is the first"));
  for (const Instruction* loop : stats.endless_loops)
    diags.Warn(loop->at, "",
               StrCat("loop ", loop->name,
                      " never terminates (its state stopped changing); shoal exits it, as XLA does"));
  for (const Instruction* gather : stats.padded_gathers)
    diags.Warn(gather->at, "",
               StrCat(gather->name, " was compiled for several devices, but the run has one; the data of the missing "
                      "devices is zero, as in XLA"));
  for (const auto& [target, stub] : stats.stubs)
    diags.Warn(stub.first->at, "",
               StrCat("unknown custom call \"", target, "\"; shoal generated its results",
                      stub.count == 1 ? "" : StrCat(" ", stub.count, " times; this is the first")));
  return diags;
}

}  // namespace shoal::internal
