#include "shoal/transform.h"

#include <algorithm>

#include "api/cpp/module_state.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "execute/runtime/pass_context.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {
namespace {

PassInfo InfoOf(const Pass& pass) {
  const auto communication = CommunicationPipeline();
  const bool is_communication =
      std::any_of(communication.begin(), communication.end(), [&](const Pass& other) { return other.name == pass.name; });
  return {pass.name, pass.reason, is_communication};
}

shoal::Result<std::vector<Pass>> Selected(const std::vector<std::string>& names) {
  std::vector<Pass> passes;
  for (const std::string& name : names) {
    const Pass* pass = PassByName(name);
    if (pass == nullptr) return ArgumentError(StrCat("unknown pass '", name, "'"));
    passes.push_back(*pass);
  }
  return passes;
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::vector<PassInfo> Passes() {
  std::vector<PassInfo> all;
  for (const auto& pipeline : {internal::EnginePipeline(), internal::CommunicationPipeline()})
    for (const internal::Pass& pass : pipeline) all.push_back(internal::InfoOf(pass));
  return all;
}

Result<Module> Transform(const Module& module, const std::vector<std::string>& passes, const TransformOptions& options) {
  if (module.empty()) return internal::NoModuleError();
  return internal::Guarded([&]() -> Result<Module> {
    Result<std::vector<internal::Pass>> selected = internal::Selected(passes);
    const Result<std::vector<internal::Pass>> disabled = internal::Selected(options.disabled);
    if (!selected.ok() || !disabled.ok()) return selected.ok() ? disabled.error() : selected.error();
    const auto all = internal::EnginePipeline();
    if (passes.empty()) selected->assign(all.begin(), all.end());
    const Result<internal::ModuleHandle> original = internal::RunnableModule(module.state());
    if (!original.ok()) return original.error();
    internal::ModuleFile file;
    file.path = (*original)->file.path;
    file.module = CloneModule((*original)->module());
    internal::PipelineOptions pipeline;
    pipeline.disabled = options.disabled;
    pipeline.verify = options.verify;
    pipeline.context = internal::EnginePassContext();
    if (options.after)
      pipeline.after = [&](const internal::Pass& pass, bool changed, double seconds) {
        options.after(internal::InfoOf(pass), changed, seconds);
      };
    if (auto changed = RunPipeline(*file.module, *selected, pipeline); !changed.ok())
      return (*original)->MakeError(changed.diag());
    auto state = std::make_shared<internal::ModuleState>(std::move(file), /*strict=*/true);
    state->original = *original;
    return Module(std::move(state));
  });
}

}  // namespace shoal::inline v0_1
