// Options of shoal ops, which prints the op table.
#include <memory>

#include "cli/options/commands.h"
#include "cli/commands/output.h"
#include "present/reports/ops_report.h"

namespace shoal::cli {

Action AddOps(Options& command) {
  auto markdown = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command.Flag("--markdown", *markdown, "Print Markdown, as in docs/ops.md");
  command.Flag("--json", *json, "Print JSON to standard output");
  command.Footer("Examples:\n  shoal ops | grep collective\n  shoal ops --markdown > docs/ops.md");
  return [=] { return WriteText(*json ? internal::OpsJson() : *markdown ? internal::OpsMarkdown() : internal::OpsText({OutputStyle().width, OutputStyle().color})); };
}

}  // namespace shoal::cli
