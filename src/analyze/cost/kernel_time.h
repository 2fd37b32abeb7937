// How long a device takes for a kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/machine.h"

namespace shoal::internal {

// What a kernel's bytes come from.
struct CacheTraffic {
  double hit = 0, miss = 0;    // bytes read from the cache, and from memory
  double write_hit = 0;        // bytes written over what is in the cache
};

// What a kernel waits for most.
enum class Bound : uint8_t { kNothing, kStart, kMemory, kCache, kMatrix, kInstructions, kBlocks, kLatency, kCompiler, kHost, kUnknown };
std::string_view ToString(Bound bound);

struct TimeTerm {
  Bound bound = Bound::kNothing;
  double seconds = 0;
  std::string from;  // "26.8 MB at 4.1 TB/s"
};

struct KernelTime {
  double seconds = 0;
  Bound bound = Bound::kNothing;
  std::vector<TimeTerm> terms;  // that the formula participants; their sum is more than `seconds` where they overlap
  double flops = 0;
  int launches = 1;
};

KernelTime EstimateKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine);

// The two kinds of devices.
KernelTime GpuKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine);
KernelTime TpuKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine);

// Flops a second of the unit; the vector units' where the device has no such unit.
double PeakOf(const DeviceModel& device, MatrixUnit unit);

}  // namespace shoal::internal
