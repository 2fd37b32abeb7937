#include "cli/commands/report.h"

#include "core/base/units.h"
#include "present/page/page.h"

namespace shoal::internal {
namespace {

Result<std::vector<Machine>> LoadMachines(const std::vector<std::string>& names) {
  std::vector<Machine> machines;
  for (const std::string& name : names) {
    SHOAL_ASSIGN(machine, LoadMachine(name));
    machines.push_back(std::move(machine));
  }
  return machines;
}

PageInput InputOf(const Input& input, const ExecutionOptions& options, const std::string& backend) {
  return {input.path, std::make_shared<const ModuleFacts>(input.module, FactOptions{.execution = options, .backend = ParseBackend(backend)})};
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
  const PageInput page_a = InputOf(a, *options, flags.backend);
  const PageInput page_b = b.module != nullptr ? InputOf(b, *options, flags.backend) : PageInput();
  const int64_t budget = flags.budget.empty() ? -1 : ParseBytes(flags.budget).value_or(-1);
  Result<Page> page = MakePage(page_a, b.module != nullptr ? &page_b : nullptr,
                                     {*machines, flags.traces, flags.devices_per_node, budget});
  if (!page.ok()) return FailOnUsage(page.diag().message, common);
  const Status written = WriteOutput(flags.out, page->html);
  if (!written.ok()) return FailOnInput(a, written.diag(), common);
  PrintWarnings(a, common);
  PrintWarnings(b, common);
  return common.json ? WriteText(page->directory + "\n") : kOk;
}

}  // namespace shoal::internal
