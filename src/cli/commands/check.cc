#include "cli/commands/check.h"

#include "cli/commands/base.h"
#include "cli/commands/input.h"
#include "cli/commands/interrupt.h"
#include "shoal/files.h"

namespace shoal::cli {

int CheckCommand(const CheckFlags& check) {
  const CommonFlags& flags = check.common;
  int status = kOk, written = kOk;
  SetActivity(StrCat("reading ", StrJoin(check.files, ", ")));
  const Result<CheckResult> result = Check(check.files, [&](const CheckedFile& file) {
    if (file.errors > 0) status = std::max(status, StatusOf(file.kind));
    if (flags.json || written != kOk) return;
    PrintToStderr(file.DiagText({.text = ErrorStyle(), .verbose = flags.verbose}));
    if (file.errors == 0) written = WriteText(Wrapped(file.summary, OutputStyle().width));
  }, OwnPackages());
  if (!result.ok()) return Fail(result.error(), flags);
  if (written == kOk && (flags.json || check.files.size() > 1)) written = WriteText(TextOf(*result, flags));
  return written != kOk ? written : status;
}

}  // namespace shoal::cli
