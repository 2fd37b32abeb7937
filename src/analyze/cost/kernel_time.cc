#include "analyze/cost/kernel_time.h"

namespace shoal::internal {

std::string_view ToString(Bound bound) {
  constexpr std::string_view kNames[] = {"nothing", "start",   "memory",   "cache", "matrix", "instructions",
                                         "blocks",  "latency", "compiler", "host",  "unknown"};
  return kNames[static_cast<size_t>(bound)];
}

KernelTime EstimateKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine) {
  return machine.device.kind == DeviceKind::kTpu ? TpuKernelTime(kernel, traffic, machine)
                                                 : GpuKernelTime(kernel, traffic, machine);
}

}  // namespace shoal::internal
