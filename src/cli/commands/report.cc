#include "cli/commands/report.h"

#include "core/base/strings.h"
#include "core/base/units.h"
#include "formats/files/profile.h"
#include "present/page/page_html.h"
#include "present/reports/assumptions.h"

namespace shoal::internal {
namespace {

std::vector<std::string> AllAssumptions(const PageModule& page) {
  std::vector<std::string> all = AssumptionsOf(page.facts->executions());
  for (const auto* more : {&page.facts->collectives().assumptions, &page.facts->memory().assumptions})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

// Adds predictions. If the time of the module cannot be predicted, the page lists the reason as an assumption.
Status AddTimes(const std::vector<Machine>& machines, PageModule& page) {
  if (machines.empty()) return {};
  auto input = PredictionInput::Of(page.facts);
  if (!input.ok()) {
    page.assumptions.push_back(StrCat("the step time cannot be predicted: ", input.diag().message));
    return {};
  }
  page.forecast_input = std::move(*input);
  for (const Machine& machine : machines) {
    SHOAL_ASSIGN(forecast, PredictOnMachine(*page.forecast_input, machine));
    page.forecasts.push_back(std::move(forecast));
  }
  return {};
}

Status AddProfiles(const std::vector<std::string>& paths, PageModule& page) {
  for (const std::string& path : paths) {
    SHOAL_ASSIGN(trace, ReadProfile(path));
    page.measured.emplace_back(path.substr(path.find_last_of('/') + 1), std::move(trace));
  }
  return {};
}

Result<std::vector<Machine>> LoadMachines(const std::vector<std::string>& names) {
  std::vector<Machine> machines;
  for (const std::string& name : names) {
    SHOAL_ASSIGN(machine, LoadMachine(name));
    machines.push_back(std::move(machine));
  }
  return machines;
}

std::unique_ptr<PageModule> MakePage(const Input& input, const ExecutionOptions& options, const ReportFlags& flags) {
  auto facts = std::make_shared<const ModuleFacts>(*input.module, FactOptions{.execution = options});
  auto page = std::make_unique<PageModule>(input.path, std::move(facts));
  page->devices_per_node = flags.devices_per_node;
  page->assumptions = AllAssumptions(*page);
  if (!flags.budget.empty()) page->budget = ParseBytes(flags.budget).value_or(-1);
  return page;
}

}  // namespace

int ReportCommand(const ReportFlags& flags) {
  const CommonFlags& common = flags.common;
  if (common.json && flags.out == "-") return FailOnUsage("--json and -o - both write to standard output", common);
  const Result<std::vector<Machine>> machines = LoadMachines(flags.on);
  if (!machines.ok()) return FailOnUsage(machines.diag().message, common);
  const Input a = ReadInput(flags.a, {common.strict});
  const Input b = flags.b.empty() ? Input() : ReadInput(flags.b, {common.strict});
  if (a.module == nullptr) return FailOnInput(a, common);
  if (!flags.b.empty() && b.module == nullptr) return FailOnInput(b, common);
  const Module* other = b.module != nullptr ? b.module.get() : a.module.get();
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({a.module.get(), other});
  if (!options.ok()) return FailOnInput(a, options.diag(), common);
  PageSections sections;
  const std::unique_ptr<PageModule> page_a = MakePage(a, *options, flags);
  if (Status done = AddTimes(*machines, *page_a); !done.ok()) return FailOnUsage(done.diag().message, common);
  if (Status done = AddProfiles(flags.traces, *page_a); !done.ok()) return FailOnUsage(done.diag().message, common);
  AddModuleSections(*page_a, "a.", sections);
  std::unique_ptr<PageModule> page_b;
  std::unique_ptr<PageDiff> diff;
  std::vector<std::string> files = {page_a->file};
  if (b.module != nullptr) {
    page_b = MakePage(b, *options, flags);
    if (Status done = AddTimes(*machines, *page_b); !done.ok()) return FailOnUsage(done.diag().message, common);
    AddModuleSections(*page_b, "b.", sections);
    files.push_back(page_b->file);
    diff = std::make_unique<PageDiff>(*page_a, *page_b);
    AddDiffSection(*diff, *page_a, *page_b, sections);
  }
  const PageSections::Packed data = sections.Pack(files);
  const Status written = WriteOutput(flags.out, PageHtml(*page_a, page_b.get(), diff.get(), data.bytes));
  if (!written.ok()) return FailOnInput(a, written.diag(), common);
  PrintWarnings(a, common);
  PrintWarnings(b, common);
  return common.json ? WriteText(data.directory + "\n") : kOk;
}

}  // namespace shoal::internal
