#include "execute/interp/memory_preflight.h"

#include <algorithm>

#include "analyze/facts/execution_counts.h"
#include "core/base/host_memory.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/base/environment_error.h"
#include "core/ir/sizes.h"
#include "core/ops/structure.h"
#include "execute/data/generate.h"
#include "execute/interp/dry_run_memory.h"

namespace shoal::internal {
namespace {

// The size of one array. A double, so that the sum of many cannot overflow.
double HostBytes(const Shape& shape) { return shape.IsArray() ? static_cast<double>(HostBytesOf(shape)) : 0; }

// An upper bound for one device: the total size of all values of all computations.
double BytesOfAllValues(const Module& module) {
  double all = 0;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) all += HostBytes(hlo->shape());
  return all;
}

// The three largest buffers: "weights f32[65536,65536] (16 GiB), dot.3 f32[…] (4 GiB)".
std::string LargestBuffers(const Module& module) {
  std::vector<std::pair<double, const Instruction*>> largest;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (const double bytes = HostBytes(hlo->shape()); bytes > 0) largest.emplace_back(bytes, hlo);
  const auto by_size = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::stable_sort(largest.begin(), largest.end(), by_size);
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, largest.size()); ++i)
    StrAppend(&text, i == 0 ? "" : ", ", largest[i].second->name, " ", ToString(largest[i].second->shape()), " (",
              FormatBytes(largest[i].first), ")");
  return text;
}

Diag NotEnoughMemory(const Module& module, const DeviceGrid& grid, double arguments, double extra, double available) {
  const auto devices = static_cast<double>(grid.count());
  std::string needs = StrCat("needs ", FormatBytes(arguments / devices + extra), " per device");
  if (grid.count() > 1)
    StrAppend(&needs, ", ", FormatBytes(arguments + extra), " on ", grid.count(), " devices that run one at a time");
  return EnvironmentError(StrCat("not enough memory: ", needs, ", but only ", FormatBytes(available), " are free; "
                                 "largest buffers: ", LargestBuffers(module)));
}

bool IsUnbounded(const Shape& shape) {
  if (shape.IsTuple()) return std::ranges::any_of(shape.elements(), [](const Shape* element) { return IsUnbounded(*element); });
  return shape.IsArray() && std::ranges::find(shape.dims(), kUnboundedSize) != shape.dims().end();
}

}  // namespace

Status CheckBounded(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsUnbounded(hlo->shape()))
        return Fail(hlo->at, "run.unbounded",
                    StrCat("cannot run ", hlo->name, ": ", ToString(hlo->shape(), /*with_layout=*/false),
                           " has an unbounded dimension"));
  return {};
}

Status CheckRunnable(const Module& module, const InferredGrid& devices) {
  SHOAL_TRY(CheckBounded(module));
  if (devices.grid.count() <= kMaxRunDevices) return {};
  return EnvironmentError(StrCat("too many devices: ", devices.from, "; at most ", kMaxRunDevices, " can be run"));
}

Status CheckConstantMemory(const Module& module) {
  double bytes = 0;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if ((*hlo)[kConstantValue] != nullptr) bytes += HostBytes(hlo->shape());
  if (bytes <= AvailableMemory()) return {};
  return EnvironmentError(StrCat("not enough memory on this machine: the module's constants need ",
                                 FormatBytes(bytes), ", which is more than is free"));
}

Status CheckRunMemory(const Module& module, const DeviceGrid& grid, double argument_bytes, int64_t devices) {
  SHOAL_TRY(CheckConstantMemory(module));
  const double available = AvailableMemory();
  if (argument_bytes > available) return NotEnoughMemory(module, grid, argument_bytes, 0, available);
  // The exact computation is slow, and most modules need far less. The run itself reports unrepresentable sizes.
  const double upper_bound = argument_bytes + BytesOfAllValues(module) * static_cast<double>(devices);
  if (upper_bound < available / 2 || upper_bound > 0x1p60) return {};
  const RunMemory run = RunMemoryOf(module, ExecutionCounts(module), grid);
  if (run.peaks.empty()) return {};
  const double extra = std::max(0.0, static_cast<double>(run.peaks.front().bytes) - ArgumentBytes(module));
  if (argument_bytes + extra > available) return NotEnoughMemory(module, grid, argument_bytes, extra, available);
  return {};
}

}  // namespace shoal::internal
