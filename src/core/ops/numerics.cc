#include "core/ops/numerics.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/backend.h"
#include "core/ops/backend_config.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// True if XLA:CPU compiled the module and assigned this fusion to the library YNNPACK.
bool IsYnnpackFusion(const Instruction& hlo) {
  return IsFusion(hlo) && BackendConfig::Of(hlo).Object("fusion_config").Text("kind") == "__ynn_fusion";
}

}  // namespace

std::optional<Numerics> ParseNumerics(std::string_view name) {
  const auto found = std::find(std::begin(kNumerics), std::end(kNumerics), name);
  if (found == std::end(kNumerics)) return std::nullopt;
  return static_cast<Numerics>(found - std::begin(kNumerics));
}

NumericsChoice InferNumerics(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsYnnpackFusion(*hlo)) return {Numerics::kXlaCpuYnnpack, StrCat(hlo->name, " is a YNNPACK fusion")};
  const BackendChoice backend = InferBackend(module);
  if (backend.has_evidence && backend.backend != Backend::kCpu) return {Numerics::kWide, backend.reason};
  return {Numerics::kXlaCpu, "assumed XLA:CPU: no features of another compiler found"};
}

}  // namespace shoal::internal
