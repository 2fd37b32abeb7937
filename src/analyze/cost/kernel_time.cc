#include "analyze/cost/kernel_time.h"

namespace shoal {

std::string_view ToString(Bound bound) {
  constexpr std::string_view kNames[] = {"nothing",      "start",  "memory",  "cache",    "matrix", "instructions",
                                         "blocks", "latency", "compiler", "host",   "unknown"};
  return kNames[static_cast<size_t>(bound)];
}

KernelPrice PriceOf(const DeviceKernel& kernel, const CacheTraffic& traffic, const Machine& machine) {
  return machine.device.kind == DeviceKind::kTpu ? PriceOnTpu(kernel, traffic, machine)
                                                 : PriceOnGpu(kernel, traffic, machine);
}

}  // namespace shoal
