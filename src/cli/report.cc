// shoal report: one page that opens anywhere.
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
Status AddTimes(const ExecutionOptions& options, const std::vector<Machine>& machines, PageModule& page) {
  if (machines.empty()) return {};
  auto input = ForecastInput::Of(page.module, options, page.devices.grid);
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

Result<std::vector<Machine>> MachinesNamed(const std::vector<std::string>& names) {
  std::vector<Machine> machines;
  for (const std::string& name : names) {
    SHOAL_ASSIGN(machine, MachineNamed(name));
    machines.push_back(std::move(machine));
  }
  return machines;
}

std::unique_ptr<PageModule> Described(const Input& input, const ExecutionOptions& options, const ReportFlags& flags) {
  auto page = std::make_unique<PageModule>(input.path, *input.module, options, flags.devices_per_node);
  page->assumptions = AllAssumptions(*page);
  if (!flags.budget.empty()) page->budget = BytesNamed(flags.budget).value_or(-1);
  return page;
}

int ReportVerb(const ReportFlags& flags) {
  const CommonFlags& common = flags.common;
  if (common.json && flags.out == "-") return RefuseCall("--json and -o - both write to standard output", common);
  const Result<std::vector<Machine>> machines = MachinesNamed(flags.on);
  if (!machines.ok()) return RefuseCall(machines.diag().message, common);
  const Input a = ReadInput(flags.a, {common.strict});
  const Input b = flags.b.empty() ? Input() : ReadInput(flags.b, {common.strict});
  if (a.module == nullptr) return Refuse(a, common);
  if (!flags.b.empty() && b.module == nullptr) return Refuse(b, common);
  const Module* other = b.module != nullptr ? b.module.get() : a.module.get();
  const Result<ExecutionOptions> options = flags.loops.For({a.module.get(), other});
  if (!options.ok()) return Refuse(a, options.diag(), common);
  PageSections sections;
  const std::unique_ptr<PageModule> page_a = Described(a, *options, flags);
  if (Status done = AddTimes(*options, *machines, *page_a); !done.ok()) return RefuseCall(done.diag().message, common);
  if (Status done = AddProfiles(flags.traces, *page_a); !done.ok()) return RefuseCall(done.diag().message, common);
  AddModuleSections(*page_a, "a.", sections);
  std::unique_ptr<PageModule> page_b;
  std::unique_ptr<PageDiff> diff;
  std::vector<std::string> files = {page_a->file};
  if (b.module != nullptr) {
    page_b = Described(b, *options, flags);
    if (Status done = AddTimes(*options, *machines, *page_b); !done.ok()) return RefuseCall(done.diag().message, common);
    AddModuleSections(*page_b, "b.", sections);
    files.push_back(page_b->file);
    diff = std::make_unique<PageDiff>(*page_a, *page_b, *options);
    AddDiffSection(*diff, *page_a, *page_b, sections);
  }
  const PageSections::Packed data = sections.Pack(files);
  const Status written = WriteOutput(flags.out, PageHtml(*page_a, page_b.get(), diff.get(), data.bytes));
  if (!written.ok()) return Refuse(a, written.diag(), common);
  SayWarnings(a, common);
  SayWarnings(b, common);
  return common.json ? WriteText(data.directory + "\n") : kOk;
}

}  // namespace

Run AddReport(Options& verb) {
  auto flags = std::make_shared<ReportFlags>();
  verb.Value("FILE", flags->a, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("B", flags->b, "Another module, to see both and what changed");
  verb.Value("-o,--output", flags->out, "The page; - is standard output").Required();
  verb.Repeated("--on", flags->on,
                "Also predict its time on this machine: h200, h100x8x64, a YAML file; several are compared");
  verb.Repeated("--trace", flags->traces,
                "A profile to show beside it: .xplane.pb or .json.gz of JAX, or of shoal run --profile");
  verb.Value("--budget", flags->budget, "Memory of a device, drawn as a line: 80GB, 512MiB, 1000000")
      .Check([](const std::string& text) {
        return BytesNamed(text) ? std::string() : StrCat("not a number of bytes: ", text);
      });
  verb.Value("--devices_per_node", flags->devices_per_node, "Neighbouring devices that share a fast network")
      .Positive();
  flags->loops.AddTo(verb);
  flags->common.AddTo(verb);
  verb.Footer(
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
