// shoal check: reads and verifies.
#include "base/strings.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "report/check_report.h"
#include "report/table.h"
#include "verify/verify.h"

namespace shoal {
namespace {

int CheckFiles(const std::vector<std::string>& files, const CommonFlags& flags) {
  CheckReport report;
  int status = kOk;
  for (const std::string& file : files) {
    Input input = ReadInput(file, {/*strict=*/true});
    if (input.module != nullptr) Verify(*input.module, input.diags);
    report.Add(file, input.module.get(), input.text(), input.diags);
    for (const Diag& diag : input.diags.found())
      if (diag.severity == Severity::kError) status = std::max(status, StatusOf(diag));
    if (flags.json) continue;
    Report(input, flags);
    if (input.diags.errors() == 0)
      if (const int written = WriteText(Fitted(report.LastLine(), OutputStyle())); written != kOk) return written;
  }
  if (flags.json || files.size() > 1)
    if (const int written = WriteText(flags.json ? report.Json() : report.Sum()); written != kOk) return written;
  return status;
}

}  // namespace

Run AddCheck(Options& verb) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto flags = std::make_shared<CommonFlags>();
  verb.Values("FILE", *files, "HLO text, .pb, either with gzip, or - for standard input").Required();
  flags->AddTo(verb);
  verb.Footer(
      "check is always strict. Exit status 1 if any file has an error.\n\n"
      "Examples:\n"
      "  shoal check module.hlo\n"
      "  shoal check --json dump/*.txt | jq '.files[] | select(.ok | not) | .file'");
  return [=] { return CheckFiles(*files, *flags); };
}

}  // namespace shoal
