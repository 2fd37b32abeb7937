#include "shoal/transform.h"

#include <algorithm>
#include <array>

#include "api/cpp/module_state.h"
#include "core/base/strings.h"
#include "core/base/suggest.h"
#include "core/ir/rewrite.h"
#include "core/ops/backend.h"
#include "execute/runtime/pass_context.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {
namespace {

// Each pass is in the first of these pipelines that contains it.
constexpr std::array kPipelines = {&EnginePipeline, &CommunicationPipeline, &CpuUndoPipeline};

PassInfo InfoOf(const Pass& pass, size_t group) { return {pass.name, pass.reason, static_cast<PassGroup>(group)}; }

PassInfo InfoOf(const Pass& pass) {
  size_t group = 0;
  for (const auto pipeline : kPipelines) {
    const auto passes = pipeline();
    if (std::ranges::any_of(passes, [&](const Pass& other) { return other.name == pass.name; })) return InfoOf(pass, group);
    ++group;
  }
  return InfoOf(pass, 0);
}

shoal::Result<std::vector<Pass>> Selected(const std::vector<std::string>& names) {
  std::vector<Pass> passes;
  for (const std::string& name : names) {
    const Pass* pass = PassByName(name);
    if (pass != nullptr) {
      passes.push_back(*pass);
      continue;
    }
    std::vector<std::string> known;
    for (const PassInfo& info : Passes()) known.emplace_back(info.name);
    return ArgumentError(StrCat("unknown pass '", name, "'", DidYouMean(name, known)));
  }
  return passes;
}

// The module while the passes run.
shoal::Module Snapshot(const ModuleFile& file) {
  ModuleFile shared;
  shared.path = file.path;
  shared.module = file.module;
  return shoal::Module(std::make_shared<const ModuleState>(std::move(shared), /*strict=*/true));
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::vector<PassInfo> Passes() {
  std::vector<PassInfo> all;
  size_t group = 0;
  for (const auto pipeline : internal::kPipelines) {
    for (const internal::Pass& pass : pipeline()) all.push_back(internal::InfoOf(pass, group));
    ++group;
  }
  return all;
}

std::vector<std::string> CommunicationPasses(const Module& module) {
  std::vector<std::string> names;
  if (module.empty()) return names;
  const internal::Module& hlo = module.state()->module();
  const internal::BackendChoice backend = internal::InferBackend(hlo);
  const bool is_cpu = backend.backend == internal::Backend::kCpu && backend.has_evidence && hlo.is_scheduled;
  if (is_cpu)
    for (const internal::Pass& pass : internal::CpuUndoPipeline()) names.emplace_back(pass.name);
  for (const internal::Pass& pass : internal::CommunicationPipeline()) names.emplace_back(pass.name);
  return names;
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
        options.after({internal::InfoOf(pass), changed, seconds, internal::Snapshot(file)});
      };
    if (auto changed = RunPipeline(*file.module, *selected, pipeline); !changed.ok())
      return (*original)->MakeError(changed.diag());
    auto state = std::make_shared<internal::ModuleState>(std::move(file), /*strict=*/true, (*original)->own_packages);
    state->original = *original;
    return Module(std::move(state));
  });
}

}  // namespace shoal::inline v0_1
