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

// Rejects unbounded sizes, which are unknown before the module runs.
Status CheckSizes(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsUnbounded(hlo->shape()))
        return Fail(hlo->at, "run.unbounded",
                    StrCat("cannot run ", hlo->name, ": ", ToString(hlo->shape(), /*with_layout=*/false),
                           " has an unbounded dimension"));
  return {};
}

}  // namespace

void RunLimits::ApplyTo(RunSettings& settings) const {
  settings.max_instructions = max_instructions;
  settings.max_seconds = max_seconds;
  settings.max_bytes = ParseBytes(max_memory).value_or(0);
}

Status RunLimits::Check(const Module& module, const InferredGrid& devices) const {
  SHOAL_TRY(CheckSizes(module));
  if (devices.grid.count() > kMaxDevices)
    return EnvironmentError(StrCat("too many devices: ", devices.from, "; at most ", kMaxDevices, " can be run"));
  const std::optional<int64_t> limit = ParseBytes(max_memory);
  const double bytes = ArgumentBytes(module);
  if (!limit || bytes <= static_cast<double>(*limit)) return {};
  return EnvironmentError(StrCat("a device's arguments need ", FormatBytes(bytes), ", more than --max_memory allows"));
}

}  // namespace shoal::internal
