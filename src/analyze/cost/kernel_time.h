// The predicted time of a kernel on a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/machine.h"

namespace shoal::internal {

// The bytes that a kernel reads and writes, by source or destination: cache or memory.
struct CacheTraffic {
  double hit = 0, miss = 0;  // bytes read from the cache and from memory
  double write_hit = 0;      // bytes written to data that is already in the cache
};

// The resource that limits a kernel.
enum class Bound : uint8_t { kNothing, kStart, kMemory, kCache, kMatrix, kInstructions,
                             kBlocks, kLatency, kCompiler, kHost, kUnknown };
std::string_view ToString(Bound bound);

struct TimeTerm {
  Bound bound = Bound::kNothing;
  double seconds = 0;
  std::string from;  // derivation of the term: "26.8 MB at 4.1 TB/s"
};

struct KernelTime {
  double seconds = 0;
  Bound bound = Bound::kNothing;
  std::vector<TimeTerm> terms;  // terms of the time formula; the sum of overlapping terms exceeds `seconds`
  double flops = 0;
  int launches = 1;
};

KernelTime EstimateKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine);

KernelTime GpuKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine);
KernelTime TpuKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine);

// Peak flop/s of the unit. If the device lacks the unit, returns the peak of the unit that replaces it.
double PeakOf(const DeviceModel& device, MatrixUnit unit);

}  // namespace shoal::internal
