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

// True if the backend_config has a key that only XLA:GPU writes.
bool HasGpuConfig(const Instruction& hlo) {
  static constexpr std::string_view kKeys[] = {"\"force_earliest_schedule\"", "\"fusion_backend_config\"",
                                               "\"gemm_backend_config\"", "\"collective_backend_config\"",
                                               "\"operation_queue_id\""};
  const std::string_view config = hlo[kBackendConfig];
  return !config.empty() && std::any_of(std::begin(kKeys), std::end(kKeys), [&](std::string_view key) {
    return config.find(key) != std::string_view::npos;
  });
}

// Calls of GPU libraries without a row in custom_calls.def are recognized by the prefix of their target.
bool IsGpuCall(const Instruction& hlo) {
  static constexpr std::string_view kPrefixes[] = {"__cublas", "__cudnn", "__triton", "xla.gpu."};
  if (!IsCustomCall(hlo)) return false;
  const CustomCallFacts* facts = FactsOf(hlo);
  return (facts != nullptr && facts->backend == CustomCallBackend::kGpu) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return TargetOf(hlo).starts_with(prefix); });
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
      if (HasGpuConfig(*hlo)) return {Backend::kGpu, StrCat(hlo->name, " has a GPU backend_config"), true};
      if (IsGpuCall(*hlo)) return {Backend::kGpu, StrCat(hlo->name, " calls a GPU library"), true};
    }
  }
  if (module.is_scheduled) return {Backend::kCpu, "assumed CPU: scheduled, no backend-specific features found"};
  return {Backend::kGpu, "assumed GPU: not scheduled, no backend-specific features found"};
}

}  // namespace shoal::internal
