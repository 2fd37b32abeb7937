#include "cli/commands/check.h"

#include "core/verify/verify.h"
#include "present/reports/check_report.h"
#include "present/reports/table.h"

namespace shoal::internal {

int CheckCommand(const CheckFlags& check) {
  const CommonFlags& flags = check.common;
  CheckReport report;
  int status = kOk;
  for (const std::string& file : check.files) {
    Input input = ReadInput(file, {/*strict=*/true});
    if (input.module != nullptr) Verify(*input.module, input.diags);
    report.Add(file, input.module.get(), input.text(), input.diags);
    for (const Diag& diag : input.diags.found())
      if (diag.severity == Severity::kError) status = std::max(status, StatusOf(diag));
    if (flags.json) continue;
    PrintDiags(input, flags);
    if (input.diags.errors() == 0)
      if (const int written = WriteText(WrapToWidth(report.LastLine(), OutputStyle())); written != kOk) return written;
  }
  if (flags.json || check.files.size() > 1)
    if (const int written = WriteText(flags.json ? report.Json() : report.Summary()); written != kOk) return written;
  return status;
}

}  // namespace shoal::internal
