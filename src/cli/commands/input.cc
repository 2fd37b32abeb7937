#include "cli/commands/input.h"

#include <algorithm>

#include "cli/commands/base.h"
#include "cli/commands/interrupt.h"
#include "cli/commands/next_step.h"

namespace shoal::cli {
namespace {

DiagStyle StyleOf(const CommonFlags& flags, Severity severity) {
  return {.text = ErrorStyle(), .verbose = flags.verbose, .severity = severity};
}

// Prints the warnings, or only their number. `text` renders them.
void PrintWarnings(int64_t count, std::string_view file, const CommonFlags& flags, const std::function<std::string()>& text) {
  if (count == 0 || flags.json) return;
  if (flags.warnings) return PrintToStderr(text());
  PrintToStderr(StrCat(EscapeName(file), ": ", Pluralize(count, "warning"),
                       count == 1 ? "; --warnings shows it\n" : "; --warnings shows them\n"));
}

std::string_view FileOf(std::span<const Diag> diags) { return diags.empty() ? "" : std::string_view(diags.front().at.file); }

// The file at fault, as an argument of a command.
std::string PathOf(const Error& error) {
  const std::string_view file = FileOf(error.diags());
  return std::string(file == "<stdin>" ? "-" : file);
}

std::vector<std::string> own_packages;

}  // namespace

void SetOwnPackages(std::string_view names) {
  own_packages.clear();
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    if (end > at) own_packages.emplace_back(names.substr(at, end - at));
    at = end + 1;
  }
}
const std::vector<std::string>& OwnPackages() { return own_packages; }

Result<Module> ReadModule(const std::string& path, ReadOptions options) {
  options.own_packages = OwnPackages();
  SetActivity(StrCat("reading ", path));
  Result<Module> module = Read(path, options);
  SetActivity(StrCat("working on ", path));
  return module;
}

Result<Facts> ReadFacts(const std::string& path, const CommonFlags& flags, const FactOptions& options) {
  const Result<Module> module = ReadModule(path, {flags.strict});
  return module.ok() ? Facts::Of(*module, options) : Result<Facts>(module.error());
}

void PrintWarnings(const Module& module, const CommonFlags& flags) {
  if (module.warning_count() == 0) return;
  const std::vector<Diag> warnings = module.warnings();
  // PrintTruncationWarning has already printed these.
  const auto printed = std::ranges::count(warnings, kTruncatedRule, &Diag::rule);
  PrintWarnings(module.warning_count() - (flags.warnings ? 0 : printed), FileOf(warnings), flags,
                [&] { return module.WarningText(StyleOf(flags, Severity::kWarning)); });
}

int Fail(const Error& error, const CommonFlags& flags) {
  const int status = StatusOf(error.kind());
  if (flags.json) return std::max(WriteText(error.ToJson()), status);
  PrintToStderr(WithCommands(error.ToText(StyleOf(flags, Severity::kError)), PathOf(error)));
  PrintWarnings(error.warning_count(), FileOf(error.diags()), flags,
                [&] { return error.ToText(StyleOf(flags, Severity::kWarning)); });
  return status;
}

int FailOnUsage(const std::string& sentence, const CommonFlags& flags) { return Fail(Error::OfArgument(sentence), flags); }

void PrintTruncationWarning(const Module& module, const CommonFlags& flags) {
  if (flags.json || flags.warnings || module.warning_count() == 0) return;
  DiagStyle style = StyleOf(flags, Severity::kWarning);
  style.rule = kTruncatedRule;
  PrintToStderr(module.WarningText(style));
}

int Finish(const Module& module, std::string_view output, const CommonFlags& flags) {
  PrintTruncationWarning(module, flags);
  const int status = WriteText(output);
  PrintWarnings(module, flags);
  return status;
}

}  // namespace shoal::cli
