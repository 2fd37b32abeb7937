#include "core/ops/backend.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool HasTiles(const Instruction& hlo) {
  return hlo.shape().IsArray() && hlo.shape().layout() != nullptr && !hlo.shape().layout()->tiles.empty();
}

// Keys of backend_configs that only GPUs write.
bool HasGpuConfig(const Instruction& hlo) {
  static constexpr std::string_view kSigns[] = {"\"force_earliest_schedule\"", "\"fusion_backend_config\"",
                                                "\"gemm_backend_config\"", "\"collective_backend_config\"",
                                                "\"operation_queue_id\""};
  const std::string_view config = hlo[kBackendConfig];
  return !config.empty() && std::any_of(std::begin(kSigns), std::end(kSigns), [&](std::string_view sign) {
    return config.find(sign) != std::string_view::npos;
  });
}

// Libraries of GPUs that have no row in custom_calls.def are known by the beginnings of their targets.
bool IsGpuCall(const Instruction& hlo) {
  static constexpr std::string_view kTargets[] = {"__cublas", "__cudnn", "__triton", "xla.gpu."};
  if (!IsCustomCall(hlo)) return false;
  const CustomCallFacts* facts = FactsOf(hlo);
  return (facts != nullptr && facts->writer == CustomCallBackend::kGpu) ||
         std::any_of(std::begin(kTargets), std::end(kTargets),
                     [&](std::string_view sign) { return TargetOf(hlo).starts_with(sign); });
}

}  // namespace

std::optional<Backend> ParseBackend(std::string_view name) {
  const auto found = std::find(std::begin(kBackends), std::end(kBackends), name);
  if (found == std::end(kBackends)) return std::nullopt;
  return static_cast<Backend>(found - std::begin(kBackends));
}

BackendChoice InferBackend(const Module& module) {
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (HasTiles(*hlo)) return {Backend::kTpu, StrCat(hlo->name, " has a tiled layout"), true};
      if (HasGpuConfig(*hlo)) return {Backend::kGpu, StrCat(hlo->name, " has a backend_config as GPUs have"), true};
      if (IsGpuCall(*hlo)) return {Backend::kGpu, StrCat(hlo->name, " is a call of a GPU's library"), true};
    }
  }
  if (module.is_scheduled) return {Backend::kCpu, "the module is scheduled and shows no other's marks"};
  return {Backend::kGpu, "the module is not scheduled and shows nobody's marks"};
}

}  // namespace shoal::internal
