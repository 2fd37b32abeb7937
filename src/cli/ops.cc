// shoal ops: the op table.
#include "cli/input.h"
#include "cli/verbs.h"
#include "report/ops_report.h"

namespace shoal {

Run AddOps(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("ops", "List every HLO op with its class, operands and attributes");
  auto markdown = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  verb->add_flag("--markdown", *markdown, "As the table in docs/ops.md");
  verb->add_flag("--json", *json, "For programs");
  verb->footer("Examples:\n  shoal ops | grep collective\n  shoal ops --markdown > docs/ops.md");
  return [=] { return WriteOutput("", *json ? OpsJson() : *markdown ? OpsMarkdown() : OpsText()).ok() ? kOk : kCallAtFault; };
}

}  // namespace shoal
