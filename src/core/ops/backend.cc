#include "core/ops/backend.h"

#include <algorithm>
#include <span>

#include "core/base/strings.h"
#include "core/ops/custom_calls.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool HasTiles(const Instruction& hlo) {
  return hlo.shape().IsArray() && hlo.shape().layout() != nullptr && !hlo.shape().layout()->tiles.empty();
}

bool ConfigHasAny(const Instruction& hlo, std::span<const std::string_view> keys) {
  const std::string_view config = hlo[kBackendConfig];
  return !config.empty() && std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    return config.find(key) != std::string_view::npos;
  });
}

// True if the backend_config has a key that only XLA:GPU writes.
bool HasGpuConfig(const Instruction& hlo) {
  static constexpr std::string_view kKeys[] = {"\"force_earliest_schedule\"", "\"fusion_backend_config\"",
                                               "\"gemm_backend_config\"", "\"collective_backend_config\"",
                                               "\"operation_queue_id\""};
  return ConfigHasAny(hlo, kKeys);
}

// True if the backend_config has a key that only XLA:CPU writes.
bool HasCpuConfig(const Instruction& hlo) {
  static constexpr std::string_view kKeys[] = {"\"outer_dimension_partitions\"", "\"onednn_", "\"__ynn_fusion\""};
  return ConfigHasAny(hlo, kKeys);
}

bool IsCpuCall(const Instruction& hlo) {
  const CustomCallFacts* facts = FactsOf(hlo);
  return facts != nullptr && facts->backend == CustomCallBackend::kCpu;
}

// XLA:GPU writes this attribute when it begins to compile a module.
bool HasGpuFingerprint(const Module& module) {
  return std::any_of(module.frontend_attributes.begin(), module.frontend_attributes.end(),
                     [](const FrontendAttribute& attribute) { return attribute.name == "fingerprint_before_lhs"; });
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

std::string_view DisplayName(Backend backend) {
  static constexpr std::string_view kNames[] = {"CPU", "GPU", "TPU"};
  return kNames[static_cast<size_t>(backend)];
}

BackendChoice InferBackend(const Module& module) {
  for (const FrontendAttribute& attribute : module.frontend_attributes)
    if (attribute.name == kScheduledForAttribute)
      if (const std::optional<Backend> backend = ParseBackend(attribute.value))
        return {*backend, StrCat("the header has ", kScheduledForAttribute), true};
  const Instruction* cpu = nullptr;
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (HasTiles(*hlo)) return {Backend::kTpu, StrCat(hlo->name, " has a tiled layout"), true};
      if (HasGpuConfig(*hlo)) return {Backend::kGpu, StrCat(hlo->name, " has a GPU backend_config"), true};
      if (IsGpuCall(*hlo)) return {Backend::kGpu, StrCat(hlo->name, " calls a GPU library"), true};
      if (cpu == nullptr && (HasCpuConfig(*hlo) || IsCpuCall(*hlo))) cpu = hlo;
    }
  }
  if (HasGpuFingerprint(module)) return {Backend::kGpu, "the header has fingerprint_before_lhs", true};
  if (cpu != nullptr)
    return {Backend::kCpu, StrCat(cpu->name, HasCpuConfig(*cpu) ? " has a CPU backend_config" : " calls a CPU library"), true};
  if (module.is_scheduled && !module.stack_frames.empty())
    return {Backend::kCpu, "scheduled, and the header has no fingerprint_before_lhs", true};
  if (module.is_scheduled) return {Backend::kCpu, "assumed CPU: scheduled, no backend-specific features found"};
  return {Backend::kGpu, "assumed GPU: not scheduled, no backend-specific features found"};
}

BackendChoice ChooseBackend(const Module& module, std::optional<Backend> given) {
  if (given) return {*given, "given", true};
  return InferBackend(module);
}

}  // namespace shoal::internal
