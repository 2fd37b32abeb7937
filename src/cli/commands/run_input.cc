#include "cli/commands/run_input.h"

#include <unistd.h>

#include <algorithm>

#include "cli/commands/interrupt.h"
#include "core/base/diag_width.h"
#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/base/environment_error.h"
#include "present/reports/diags_json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

DiagStyle StyleOf(const CommonFlags& flags) {
  DiagStyle style;
  style.color = ErrorStyle().color;
  style.verbose = flags.verbose;
  return style;
}

std::string RenderDiags(const Input& input, const Diags& diags, const CommonFlags& flags) {
  std::unique_ptr<Source> empty;
  if (input.text() == nullptr) empty = Source::FromString(input.path, "");
  const Source& text = empty == nullptr ? *input.text() : *empty;
  return Render(diags, text, StyleOf(flags), ErrorStyle().width);
}

// The diagnostics of one severity.
Diags WithSeverity(const Diags& diags, Severity severity) {
  Diags selected;
  for (const Diag& diag : diags.found())
    if (diag.severity == severity) selected.Add(diag);
  return selected;
}

}  // namespace

Input ReadInput(const std::string& path, const ParseOptions& options) {
  SetActivity(StrCat("reading ", path));
  Input input = ReadModuleFile(path, options);
  SetActivity(StrCat("working on ", path));
  return input;
}

void PrintDiags(const Input& input, const CommonFlags& flags) { PrintToStderr(RenderDiags(input, input.diags, flags)); }

void PrintWarnings(const Input& input, const CommonFlags& flags) {
  // PrintTruncationWarning has already printed these.
  const auto printed = std::count_if(input.diags.found().begin(), input.diags.found().end(),
                                     [](const Diag& diag) { return diag.rule == kTruncatedRule; });
  const int64_t count = input.diags.warnings() - (flags.warnings ? 0 : printed);
  if (count == 0 || flags.json) return;
  if (flags.warnings) {
    PrintToStderr(RenderDiags(input, WithSeverity(input.diags, Severity::kWarning), flags));
  } else {
    PrintToStderr(StrCat(EscapeName(input.text() != nullptr ? input.text()->name() : input.path), ": ", Pluralize(count, "warning"),
                         count == 1 ? "; --warnings shows it\n" : "; --warnings shows them\n"));
  }
}

int FailOnInput(const Input& input, const CommonFlags& flags) {
  const auto& found = input.diags.found();
  const bool is_environment = std::any_of(found.begin(), found.end(), IsEnvironmentError);
  const int status = is_environment ? kUsageOrSystemError : kInputError;
  if (flags.json) return std::max(WriteText(ErrorJson(input.path, input.text(), input.diags)), status);
  PrintToStderr(RenderDiags(input, WithSeverity(input.diags, Severity::kError), flags));
  PrintWarnings(input, flags);
  return status;
}

int FailOnInput(const Input& input, const Diag& diag, const CommonFlags& flags) {
  Diags one;
  one.Add(diag);
  if (flags.json) return std::max(WriteText(ErrorJson(input.path, input.text(), one)), (IsEnvironmentError(diag) ? kUsageOrSystemError : kInputError));
  PrintToStderr(RenderDiags(input, one, flags));
  return (IsEnvironmentError(diag) ? kUsageOrSystemError : kInputError);
}

}  // namespace shoal::internal
