#include "cli/commands/report.h"

#include "cli/commands/base.h"
#include "shoal/report.h"

namespace shoal::cli {
namespace {

Result<PageOptions> OptionsOf(const ReportFlags& flags) {
  PageOptions options{{}, flags.traces, flags.devices_per_node, ParseBytes(flags.budget)};
  for (const std::string& name : flags.on) {
    Result<Machine> machine = Machine::Load(name);
    if (!machine.ok()) return machine.error();
    options.machines.push_back(std::move(*machine));
  }
  return options;
}

}  // namespace

int ReportCommand(const ReportFlags& flags) {
  const CommonFlags& common = flags.common;
  if (common.json && flags.out == "-") return FailOnUsage("--json and -o - both write to standard output", common);
  const Result<PageOptions> options = OptionsOf(flags);
  if (!options.ok()) return Fail(options.error(), common);
  const Result<Module> a = ReadModule(flags.a, {common.strict});
  const Result<Module> b = flags.b.empty() ? a : ReadModule(flags.b, {common.strict});
  for (const Result<Module>* module : {&a, &b})
    if (!module->ok()) return Fail(module->error(), common);
  FactOptions fact_options = flags.loops.ToFactOptions();
  fact_options.backend = flags.backend;
  const Result<std::pair<Facts, Facts>> facts = Facts::OfPair(*a, *b, fact_options);
  if (!facts.ok()) return Fail(facts.error(), common);
  const Result<HtmlPage> page = Page(facts->first, *options, flags.b.empty() ? nullptr : &facts->second);
  if (!page.ok()) return Fail(page.error(), common);
  if (const Status written = WriteOutput(flags.out, page->html); !written.ok()) return Fail(written.error(), common);
  PrintWarnings(*a, common);
  if (!flags.b.empty()) PrintWarnings(*b, common);
  return common.json ? WriteText(page->contents + "\n") : kOk;
}

}  // namespace shoal::cli
