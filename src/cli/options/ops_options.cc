// shoal ops: the op table.
#include "cli/options/commands.h"
#include "cli/commands/input.h"
#include "present/reports/ops_report.h"

namespace shoal::internal {

Run AddOps(Options& verb) {
  auto markdown = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  verb.Flag("--markdown", *markdown, "As the table in docs/ops.md");
  verb.Flag("--json", *json, "For programs: JSON, on standard output");
  verb.Footer("Examples:\n  shoal ops | grep collective\n  shoal ops --markdown > docs/ops.md");
  return [=] { return WriteText(*json ? OpsJson() : *markdown ? OpsMarkdown() : OpsText()); };
}

}  // namespace shoal::internal
