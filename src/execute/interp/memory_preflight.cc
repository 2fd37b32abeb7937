#include "execute/interp/memory_preflight.h"

#include <algorithm>

#include "analyze/facts/execution_counts.h"
#include "core/base/host_memory.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/base/environment_error.h"
#include "core/ops/structure.h"
#include "execute/data/generate.h"
#include "execute/interp/dry_run_memory.h"

namespace shoal::internal {
namespace {

// Of one array, however large.
double HostBytes(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  double bytes = StorageBytes(shape.element_type());
  for (int64_t size : shape.dims()) bytes *= static_cast<double>(size);
  return bytes;
}

// More than one device can hold at any time: every value of every computation at once.
double BytesOfAllValues(const Module& module) {
  double all = 0;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) all += HostBytes(hlo->shape());
  return all;
}

// "weights f32[65536,65536] (16 GiB), dot.3 f32[…] (4 GiB)": the largest three.
std::string LargestBuffers(const Module& module) {
  std::vector<std::pair<double, const Instruction*>> largest;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (const double bytes = HostBytes(hlo->shape()); bytes > 0) largest.emplace_back(bytes, hlo);
  const auto more = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::stable_sort(largest.begin(), largest.end(), more);
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, largest.size()); ++i)
    StrAppend(&text, i == 0 ? "" : ", ", largest[i].second->name, " ", ToString(largest[i].second->shape()), " (",
              FormatBytes(largest[i].first), ")");
  return text;
}

Diag TooLittle(const Module& module, const DeviceGrid& grid, double arguments, double more, double available) {
  const auto devices = static_cast<double>(grid.count());
  std::string needs = StrCat("needs ", FormatBytes(arguments / devices + more), " per device");
  if (grid.count() > 1) StrAppend(&needs, ", ", FormatBytes(arguments + more), " on ", grid.count(), " devices that take turns");
  return EnvironmentError(StrCat("not enough memory: ", needs, ", and ", FormatBytes(available), " are free here; largest buffers: ",
                            LargestBuffers(module)));
}

}  // namespace

Status CheckConstantMemory(const Module& module) {
  double bytes = 0;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if ((*hlo)[kConstantValue] != nullptr) bytes += HostBytes(hlo->shape());
  if (bytes <= AvailableMemory()) return {};
  return EnvironmentError(StrCat("not enough memory on this machine: the module's constants take ", FormatBytes(bytes), ", more than is free"));
}

Status CheckRunMemory(const Module& module, const DeviceGrid& grid, double argument_bytes, int64_t devices) {
  SHOAL_TRY(CheckConstantMemory(module));
  const double available = AvailableMemory();
  if (argument_bytes > available) return TooLittle(module, grid, argument_bytes, 0, available);
  // Working out the exact need takes time; most modules are far from it, and what no number can say is found where it
  // arises.
  const double most = argument_bytes + BytesOfAllValues(module) * static_cast<double>(devices);
  if (most < available / 2 || most > 0x1p60) return {};
  const RunMemory run = RunMemoryOf(module, ExecutionCounts(module), grid);
  if (run.peaks.empty()) return {};
  const double more = std::max(0.0, static_cast<double>(run.peaks.front().bytes) - ArgumentBytes(module));
  if (argument_bytes + more > available) return TooLittle(module, grid, argument_bytes, more, available);
  return {};
}

}  // namespace shoal::internal
