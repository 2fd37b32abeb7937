// Options of shoal check.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/check.h"

namespace shoal::cli {

Action AddCheck(Options& command) {
  auto flags = std::make_shared<CheckFlags>();
  command.Values("FILE", flags->files, kModuleHelp).Required();
  AddTo(command, flags->common);
  command.Footer(
      "check is always strict. The exit status is 1 if any file has an error.\n\n"
      "Examples:\n"
      "  shoal check module.hlo\n"
      "  shoal check --json dump/*.txt | jq '.files[] | select(.ok | not) | .file'");
  return [=] { return CheckCommand(*flags); };
}

}  // namespace shoal::cli
