#include "cli/commands/opt.h"

#include <algorithm>
#include <cstdio>

#include "cli/commands/base.h"
#include "shoal/transform.h"

namespace shoal::cli {
namespace {

int ListPasses() {
  std::string text;
  const auto add = [&](PassGroup group) {
    for (const PassInfo& pass : Passes())
      if (pass.group == group) StrAppend(&text, pass.name, ": ", pass.reason, "\n");
  };
  add(PassGroup::kCompiler);
  text += "\nonly with --passes or --communication, as in XLA's GPU pipeline:\n";
  add(PassGroup::kCommunication);
  text += "\nonly with --passes, or before those of --communication if XLA:CPU compiled the module:\n";
  add(PassGroup::kUndoCpu);
  return WriteText(text);
}

void PrintTime(const PassOutcome& outcome) {
  char line[120];
  std::snprintf(line, sizeof(line), "%-28s %8.3f ms%s\n", std::string(outcome.pass.name).c_str(), outcome.seconds * 1e3,
                outcome.changed ? "" : "  unchanged");
  PrintToStderr(line);
}

std::string PrintedAfter(const PassOutcome& outcome) {
  const Result<std::string> module = Print(outcome.module, {.format = Format::kShort, .renumber = true});
  return StrCat("// after ", outcome.pass.name, outcome.changed ? "" : ": unchanged", "\n", module.ok() ? *module : "");
}

// The first of these names that is not a pass. Empty if all are passes.
std::string UnknownPass(const OptFlags& flags) {
  const std::vector<PassInfo> passes = Passes();
  for (const std::vector<std::string>* names : {&flags.passes, &flags.disabled, &flags.print_after})
    for (const std::string& name : *names)
      if (std::ranges::find(passes, name, &PassInfo::name) == passes.end()) return name;
  return {};
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const PassInfo& pass : Passes()) names.emplace_back(pass.name);
  return names;
}

}  // namespace

int OptCommand(const OptFlags& flags) {
  if (flags.list_passes) return ListPasses();
  if (flags.file.empty()) return FailOnUsage("FILE is required; --list-passes, which needs no file, lists the passes", flags.common);
  if (const std::string unknown = UnknownPass(flags); !unknown.empty())
    return FailOnUsage(StrCat("unknown pass '", unknown, "'; --list-passes lists all passes", DidYouMean(unknown, PassNames())), flags.common);
  const Result<Module> input = ReadModule(flags.file, {.strict = true});
  if (!input.ok()) return Fail(input.error(), flags.common);
  const std::vector<std::string> passes =
      flags.communication && flags.passes.empty() ? CommunicationPasses(*input) : flags.passes;
  std::string text;
  TransformOptions options;
  options.disabled = flags.disabled;
  options.after = [&](const PassOutcome& outcome) {
    if (flags.time) PrintTime(outcome);
    if (std::ranges::find(flags.print_after, outcome.pass.name) != flags.print_after.end()) text += PrintedAfter(outcome);
  };
  const Result<Module> module = Transform(*input, passes, options);
  if (!module.ok()) return Fail(module.error(), flags.common);
  if (flags.print_after.empty()) {
    Result<std::string> printed = Print(*module, {.renumber = true});
    if (!printed.ok()) return Fail(printed.error(), flags.common);
    text = std::move(*printed);
  }
  if (const Status written = WriteOutput(flags.output, text); !written.ok()) return Fail(written.error(), flags.common);
  PrintWarnings(*input, flags.common);
  return kOk;
}

}  // namespace shoal::cli
