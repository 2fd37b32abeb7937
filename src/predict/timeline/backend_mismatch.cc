#include "predict/timeline/backend_mismatch.h"

#include "core/base/settings.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

Backend BackendOf(const Machine& machine) {
  return machine.device.kind == DeviceKind::kTpu ? Backend::kTpu : Backend::kGpu;
}

}  // namespace

std::string BackendMismatch(const PredictionInput& input, const Machine& machine) {
  const BackendChoice& compiled = input.backend();
  const Backend target = BackendOf(machine);
  if (compiled.backend == target || (!compiled.has_evidence && compiled.backend != Backend::kCpu)) return {};
  const std::string_view from = DisplayName(compiled.backend), to = DisplayName(target);
  if (!compiled.has_evidence)
    return StrCat("probably compiled for ", from, ", not for ", to, " (", compiled.reason,
                  "), but timed as written; ", Setting("backend"), " states the compiler, ",
                  ToString(compiled.backend), " or ", ToString(target));
  const std::string what = StrCat("compiled for ", from, ", not for ", to, " (", compiled.reason, "): ");
  if (input.is_cpu_undone())
    return StrCat(what, "timed without the CPU compiler's fusions, widened types and schedule, as a ", to,
                  " compiler would compile it; ", kBackendIndependentStage, " is independent of the backend");
  return StrCat(what, "timed as written, with fusions and collectives for ", from, "; ", kBackendIndependentStage,
                " is independent of the backend");
}

}  // namespace shoal::internal
