#include "memory/run_need.h"

#include <algorithm>

#include "analysis/executions.h"
#include "base/machine.h"
#include "base/strings.h"
#include "base/units.h"
#include "base/world.h"
#include "interp/data/generate.h"
#include "memory/run_memory.h"
#include "ops/structure.h"

namespace shoal {
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
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) all += HostBytes(hlo->shape());
  }
  return all;
}

// Without the figure of the machine, which is another the next time.
Diag TooLittle(double arguments, double more) {
  return WorldFailed(StrCat("not enough memory on this machine: the arguments take ", Bytes(arguments),
                            more > 0 ? StrCat(" and the run another ", Bytes(more)) : std::string(),
                            ", more than is free"));
}

}  // namespace

Status CheckConstantMemory(const Module& module) {
  double bytes = 0;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if ((*hlo)[kConstantValue] != nullptr) bytes += HostBytes(hlo->shape());
  if (bytes <= AvailableMemory()) return {};
  return WorldFailed(StrCat("not enough memory on this machine: the module's constants take ", Bytes(bytes), ", more than is free"));
}

Status CheckRunMemory(const Module& module, const DeviceGrid& grid, double argument_bytes, int64_t devices) {
  SHOAL_TRY(CheckConstantMemory(module));
  const double available = AvailableMemory();
  if (argument_bytes > available) return TooLittle(argument_bytes, 0);
  // Working out the exact need takes time; most modules are far from it, and what no number can say is found where it
  // arises.
  const double most = argument_bytes + BytesOfAllValues(module) * static_cast<double>(devices);
  if (most < available / 2 || most > 0x1p60) return {};
  const RunMemory run = RunMemoryOf(module, Executions(module), grid);
  if (run.peaks.empty()) return {};
  const double more = std::max(0.0, static_cast<double>(run.peaks.front().bytes) - ArgumentBytes(module));
  if (argument_bytes + more > available) return TooLittle(argument_bytes, more);
  return {};
}

}  // namespace shoal
