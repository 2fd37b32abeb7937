// The options of shoal check.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/check.h"

namespace shoal::internal {

Run AddCheck(Options& verb) {
  auto flags = std::make_shared<CheckFlags>();
  verb.Values("FILE", flags->files, "HLO text, .pb, either with gzip, or - for standard input").Required();
  AddTo(verb, flags->common);
  verb.Footer(
      "check is always strict. Exit status 1 if any file has an error.\n\n"
      "Examples:\n"
      "  shoal check module.hlo\n"
      "  shoal check --json dump/*.txt | jq '.files[] | select(.ok | not) | .file'");
  return [=] { return CheckVerb(*flags); };
}

}  // namespace shoal::internal
