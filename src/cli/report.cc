// shoal report: one page that opens anywhere.
#include <cstdio>

#include "analysis/assumptions.h"
#include "base/strings.h"
#include "base/units.h"
#include "cli/input.h"
#include "cli/loop_flags.h"
#include "cli/verbs.h"
#include "report/page_html.h"
#include "sim/profile.h"

namespace shoal {
namespace {

struct ReportFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string a, b, out, budget;
  std::vector<std::string> on, traces;
  int64_t devices_per_node = 8;
};

std::vector<std::string> AllAssumptions(const PageModule& page) {
  std::vector<std::string> all = AssumptionsOf(page.executions);
  for (const auto* more : {&page.collectives.assumptions, &page.memory.assumptions})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

// Where a module's time cannot be predicted, the page says why and shows the rest.
Status AddTimes(const ReportFlags& flags, const std::vector<Machine>& machines, PageModule& page) {
  if (machines.empty()) return {};
  auto input = ForecastInput::Of(page.module, flags.loops.Options(), page.devices.grid);
  if (!input.ok()) {
    page.assumptions.push_back(StrCat("no time is predicted: ", input.diag().message));
    return {};
  }
  page.forecast_input = std::move(*input);
  for (const Machine& machine : machines) {
    SHOAL_ASSIGN(forecast, ForecastOf(*page.forecast_input, machine));
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

int CallFault(const Diag& diag) {
  std::fprintf(stderr, "shoal report: error: %s\n", diag.message.c_str());
  return kCallAtFault;
}

std::unique_ptr<PageModule> Described(const Input& input, const ReportFlags& flags) {
  auto page = std::make_unique<PageModule>(input.path, *input.module, flags.loops.Options(), flags.devices_per_node);
  page->assumptions = AllAssumptions(*page);
  if (!flags.budget.empty()) page->budget = BytesNamed(flags.budget).value_or(-1);
  return page;
}

int ReportVerb(const ReportFlags& flags) {
  std::vector<Machine> machines;
  for (const std::string& name : flags.on) {
    Result<Machine> machine = MachineNamed(name);
    if (!machine.ok()) return CallFault(machine.diag());
    machines.push_back(std::move(*machine));
  }
  const Input a = ReadInput(flags.a, {flags.common.strict});
  const Input b = flags.b.empty() ? Input() : ReadInput(flags.b, {flags.common.strict});
  Report(a, flags.common);
  if (!flags.b.empty()) Report(b, flags.common);
  if (a.module == nullptr || (!flags.b.empty() && b.module == nullptr)) return kInputAtFault;
  if (flags.common.json && flags.out == "-") return CallFault(Fail("--json and -o - both write to standard output"));
  PageSections sections;
  const std::unique_ptr<PageModule> page_a = Described(a, flags);
  if (Status done = AddTimes(flags, machines, *page_a); !done.ok()) return CallFault(done.diag());
  if (Status done = AddProfiles(flags.traces, *page_a); !done.ok()) return CallFault(done.diag());
  AddModuleSections(*page_a, "a.", sections);
  std::unique_ptr<PageModule> page_b;
  std::unique_ptr<PageDiff> diff;
  std::vector<std::string> files = {page_a->file};
  if (b.module != nullptr) {
    page_b = Described(b, flags);
    if (Status done = AddTimes(flags, machines, *page_b); !done.ok()) return CallFault(done.diag());
    AddModuleSections(*page_b, "b.", sections);
    files.push_back(page_b->file);
    diff = std::make_unique<PageDiff>(*page_a, *page_b, flags.loops.Options());
    AddDiffSection(*diff, *page_a, *page_b, sections);
  }
  const PageSections::Packed data = sections.Pack(files);
  const Status written = WriteOutput(flags.out, PageHtml(*page_a, page_b.get(), diff.get(), data.bytes));
  if (written.ok() && flags.common.json) std::puts(data.directory.c_str());
  return written.ok() ? kOk : CallFault(written.diag());
}

}  // namespace

Run AddReport(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("report", "Write a page that shows a module, or two, in any browser");
  auto flags = std::make_shared<ReportFlags>();
  verb->add_option("FILE", flags->a, "HLO text, .pb, either with gzip, or - for standard input")->required();
  verb->add_option("B", flags->b, "Another module, to see both and what changed");
  verb->add_option("-o,--output", flags->out, "The page; - is standard output")->required();
  verb->add_option("--on", flags->on, "Also predict its time on this machine: h200, h100x8x64, a YAML file; several are compared")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  verb->add_option("--trace", flags->traces, "A profile to show beside it: .xplane.pb or .json.gz of JAX, or of shoal run --profile")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  verb->add_option("--budget", flags->budget, "Memory of a device, drawn as a line: 80GB, 512MiB, 1000000")
      ->check([](const std::string& text) {
        return BytesNamed(text) ? std::string() : StrCat("not a number of bytes: ", text);
      });
  verb->add_option("--devices_per_node", flags->devices_per_node, "Neighbouring devices that share a fast network")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  flags->loops.AddTo(*verb);
  verb->add_flag("--json", flags->common.json, "What data stand in the page, on standard output");
  flags->common.AddTo(*verb);
  verb->footer(
      "The page is one file without a server: send it, or keep it beside a CI run. It asks the network for nothing.\n"
      "Its data have a format of their own (docs/report.md); other verbs say the same figures with --json.\n\n"
      "Examples:\n"
      "  shoal report module.hlo -o page.html\n"
      "  shoal report --on=h100x8 --budget=80GB module.hlo -o page.html\n"
      "  shoal report --on=h200 --trace=step.xplane.pb module.hlo -o page.html\n"
      "  shoal report yesterday.hlo today.hlo -o page.html");
  return [=] { return ReportVerb(*flags); };
}

}  // namespace shoal
