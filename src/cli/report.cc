// shoal report: one page that opens anywhere.
#include "analysis/assumptions.h"
#include "base/strings.h"
#include "base/units.h"
#include "cli/input.h"
#include "cli/loop_flags.h"
#include "cli/verbs.h"
#include "report/page_html.h"

namespace shoal {
namespace {

struct ReportFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string a, b, out, budget;
  int64_t devices_per_node = 8;
};

std::vector<std::string> AllAssumptions(const PageModule& page) {
  std::vector<std::string> all = AssumptionsOf(page.executions);
  for (const auto* more : {&page.collectives.assumptions, &page.memory.assumptions})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

std::unique_ptr<PageModule> Described(const Input& input, const ExecutionOptions& options, const ReportFlags& flags) {
  auto page = std::make_unique<PageModule>(input.path, *input.module, options, flags.devices_per_node);
  page->assumptions = AllAssumptions(*page);
  if (!flags.budget.empty()) page->budget = BytesNamed(flags.budget).value_or(-1);
  return page;
}

int ReportVerb(const ReportFlags& flags) {
  const Input a = ReadInput(flags.a, {flags.common.strict});
  const Input b = flags.b.empty() ? Input() : ReadInput(flags.b, {flags.common.strict});
  if (a.module == nullptr) return Refuse(a, flags.common);
  if (!flags.b.empty() && b.module == nullptr) return Refuse(b, flags.common);
  const Module* other = b.module != nullptr ? b.module.get() : a.module.get();
  const Result<ExecutionOptions> options = flags.loops.For({a.module.get(), other});
  if (!options.ok()) return Refuse(a, options.diag(), flags.common);
  PageSections sections;
  const std::unique_ptr<PageModule> page_a = Described(a, *options, flags);
  AddModuleSections(*page_a, "a.", sections);
  std::unique_ptr<PageModule> page_b;
  std::vector<std::string> files = {page_a->file};
  if (b.module != nullptr) {
    page_b = Described(b, *options, flags);
    AddModuleSections(*page_b, "b.", sections);
    files.push_back(page_b->file);
  }
  const Status written = WriteOutput(flags.out, PageHtml(*page_a, page_b.get(), sections.Pack(files)));
  if (!written.ok()) return Refuse(a, written.diag(), flags.common);
  SayWarnings(a, flags.common);
  SayWarnings(b, flags.common);
  return kOk;
}

}  // namespace

Run AddReport(Options& verb) {
  auto flags = std::make_shared<ReportFlags>();
  verb.Value("FILE", flags->a, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("B", flags->b, "Another module, to see both and what changed");
  verb.Value("-o,--output", flags->out, "The page; - is standard output").Required();
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
      "  shoal report --budget=80GB module.hlo -o page.html\n"
      "  shoal report yesterday.hlo today.hlo -o page.html");
  return [=] { return ReportVerb(*flags); };
}

}  // namespace shoal
