#include "cli/commands/run_limits.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/base/environment_error.h"
#include "execute/data/generate.h"

namespace shoal::internal {
namespace {

bool IsUnbounded(const Shape& shape) {
  if (shape.IsTuple()) return std::ranges::any_of(shape.elements(), [](const Shape* element) { return IsUnbounded(*element); });
  return shape.IsArray() && std::ranges::find(shape.dims(), kUnboundedSize) != shape.dims().end();
}

// A size that only another compiler's run would know.
Status CheckSizes(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsUnbounded(hlo->shape()))
        return Fail(hlo->at, "run.unbounded",
                    StrCat(hlo->name, " has a dimension without a size, ", ToString(hlo->shape(), /*with_layout=*/false),
                           ": such a module cannot be run"));
  return {};
}

}  // namespace

void RunLimits::Set(RunSettings& settings) const {
  settings.max_instructions = max_instructions;
  settings.max_seconds = max_seconds;
  settings.max_bytes = ParseBytes(max_memory).value_or(0);
}

Status RunLimits::Check(const Module& module, const InferredGrid& devices) const {
  SHOAL_TRY(CheckSizes(module));
  if (devices.grid.count() > kMaxDevices)
    return EnvironmentError(StrCat(devices.from, ", are more than the ", kMaxDevices, " that are possible"));
  const std::optional<int64_t> most = ParseBytes(max_memory);
  const double bytes = ArgumentBytes(module);
  if (!most || bytes <= static_cast<double>(*most)) return {};
  return EnvironmentError(StrCat("a device's arguments take ", FormatBytes(bytes), ", more than --max_memory allows"));
}

}  // namespace shoal::internal
