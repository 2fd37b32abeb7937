#include "execute/runtime/run_warnings.h"

#include "core/base/strings.h"

namespace shoal::internal {

Diag ElidedLiteralsError(const ElidedLiterals& elided) {
  return Fail(elided.first->at, "",
              StrCat(elided.first->name, " was elided from the dump ({...}), as ",
                     elided.count == 1 ? "the only one" : StrCat("the first of ", elided.count),
                     "; --fill_elided=false refuses to make up its values"));
}

Diag ElidedWarning(const ElidedLiterals& elided) {
  Diag warning = Fail(elided.first->at, "",
                      StrCat(elided.count, elided.count == 1 ? " literal was" : " literals were",
                             " elided from the dump ({...}) and filled with made-up numbers; this is the first"));
  warning.severity = Severity::kWarning;
  return warning;
}

Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed) {
  Diags diags;
  if (mixed.count > 0)
    diags.Warn(mixed.first->at, "",
               StrCat(mixed.count, mixed.count == 1 ? " instruction mixes" : " instructions mix",
                      " float types: computed in the widest, and rounded once to the declared one",
                      mixed.count == 1 ? "" : "; this is the first"));
  for (const Instruction* loop : stats.endless_loops)
    diags.Warn(loop->at, "",
               StrCat("the loop ", loop->name,
                      " would never end: its state no longer changes; it was left, as XLA's compilers leave it"));
  for (const Instruction* gather : stats.padded_gathers)
    diags.Warn(gather->at, "",
               StrCat(gather->name, " was made for more than the one device there is: what others would have "
                      "given is zero, as XLA has it"));
  for (const auto& [target, stub] : stats.stubs)
    diags.Warn(stub.first->at, "",
               StrCat("the custom call \"", target, "\" was given made-up results",
                      stub.count == 1 ? "" : StrCat(" ", stub.count, " times, here first")));
  return diags;
}

}  // namespace shoal::internal
