// Options of shoal ops, which prints the op table.
#include <memory>

#include "cli/options/commands.h"
#include "cli/commands/output.h"
#include "present/reports/ops_report.h"

namespace shoal::cli {
namespace {

// The page docs/ops.md, up to its table.
constexpr char kPage[] =
    "# shoal ops\n\nLists every HLO op with its class, its number of operands and its attributes; `--json` prints "
    "JSON.\n\n    $ shoal ops | grep all-to-all\n\nThis page is the output of `shoal ops --markdown`.\n\n"
    "If the shape of an op is inferred, the declared shape must match it. Otherwise, the declared shape must satisfy the "
    "rules of the op.\n\n";

}  // namespace

Action AddOps(Options& command) {
  auto markdown = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command.Flag("--markdown", *markdown, "Print Markdown, as in docs/ops.md");
  command.Flag("--json", *json, "Print JSON to standard output");
  command.Footer("Examples:\n  shoal ops | grep collective\n  shoal ops --markdown > docs/ops.md");
  return [=] {
    if (*json) return WriteText(internal::OpsJson());
    if (*markdown) return WriteText(kPage + internal::OpsMarkdown());
    return WriteText(internal::OpsText({OutputStyle().width, OutputStyle().color}));
  };
}

}  // namespace shoal::cli
