#include "cli/commands/opt.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "core/base/strings.h"
#include "core/base/suggest.h"
#include "core/base/environment_error.h"
#include "core/ops/backend.h"
#include "core/ir/rewrite.h"
#include "core/verify/verify.h"
#include "execute/runtime/pass_context.h"
#include "formats/text/printer.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {
namespace {

int ListPasses() {
  std::string text;
  for (const Pass& pass : EnginePipeline()) StrAppend(&text, pass.name, ": ", pass.reason, "\n");
  text += "\nonly with --passes or --communication, as in XLA's GPU pipeline:\n";
  for (const Pass& pass : CommunicationPipeline()) StrAppend(&text, pass.name, ": ", pass.reason, "\n");
  text += "\nonly with --passes, or before those of --communication if XLA:CPU compiled the module:\n";
  for (const Pass& pass : CpuUndoPipeline()) StrAppend(&text, pass.name, ": ", pass.reason, "\n");
  return WriteText(text);
}

void PrintTime(const Pass& pass, bool changed, double seconds) {
  char line[120];
  std::snprintf(line, sizeof(line), "%-28s %8.3f ms%s\n", std::string(pass.name).c_str(), seconds * 1e3,
                changed ? "" : "  unchanged");
  PrintToStderr(line);
}

// The passes of --communication. They come after those that undo the rewrites of a CPU compiler, if it compiled the module.
std::vector<Pass> CommunicationPasses(const Module& module) {
  std::vector<Pass> passes;
  const BackendChoice backend = InferBackend(module);
  if (backend.backend == Backend::kCpu && backend.has_evidence && module.is_scheduled)
    passes.assign(CpuUndoPipeline().begin(), CpuUndoPipeline().end());
  passes.insert(passes.end(), CommunicationPipeline().begin(), CommunicationPipeline().end());
  return passes;
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const auto& passes : {EnginePipeline(), CommunicationPipeline(), CpuUndoPipeline()})
    for (const Pass& pass : passes) names.emplace_back(pass.name);
  return names;
}

Result<std::vector<Pass>> SelectPasses(const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<Pass>(EnginePipeline().begin(), EnginePipeline().end());
  std::vector<Pass> passes;
  for (const std::string& name : names) {
    const Pass* pass = PassByName(name);
    if (pass == nullptr) return EnvironmentError(StrCat("unknown pass '", name, "'; --list-passes lists all passes", DidYouMean(name, PassNames())));
    passes.push_back(*pass);
  }
  return passes;
}

}  // namespace

int OptCommand(const OptFlags& flags) {
  if (flags.list_passes) return ListPasses();
  if (flags.file.empty()) return FailOnUsage("FILE is required; --list-passes, which needs no file, lists the passes", flags.common);
  Input input = ReadInput(flags.file, {/*strict=*/true});
  if (input.module != nullptr) Verify(*input.module, input.diags);
  if (input.module == nullptr || input.diags.errors() > 0) return FailOnInput(input, flags.common);
  Result<std::vector<Pass>> passes = flags.communication && flags.passes.empty()
                                        ? CommunicationPasses(*input.module) : SelectPasses(flags.passes);
  if (!passes.ok()) return FailOnInput(input, passes.diag(), flags.common);
  for (const std::vector<std::string>* names : {&flags.disabled, &flags.print_after})
    if (Result<std::vector<Pass>> listed = SelectPasses(*names); !listed.ok())
      return FailOnInput(input, listed.diag(), flags.common);

  std::unique_ptr<Module> module = CloneModule(*input.module);
  std::string text;
  PipelineOptions options;
  options.disabled = flags.disabled;
  options.verify = true;
  options.context = EnginePassContext();
  options.after = [&](const Pass& pass, bool changed, double seconds) {
    if (flags.time) PrintTime(pass, changed, seconds);
    if (std::find(flags.print_after.begin(), flags.print_after.end(), pass.name) != flags.print_after.end())
      StrAppend(&text, "// after ", pass.name, changed ? "" : ": unchanged", "\n", PrintModule(*module, PrintOptions::Short()));
  };
  Result<bool> changed = RunPipeline(*module, *passes, options);
  if (!changed.ok()) return FailOnInput(input, changed.diag(), flags.common);
  if (flags.print_after.empty()) text += PrintModule(*module, {});
  const Status written = WriteOutput(flags.output, text);
  if (!written.ok()) return FailOnInput(input, written.diag(), flags.common);
  PrintWarnings(input, flags.common);
  return kOk;
}

}  // namespace shoal::internal
