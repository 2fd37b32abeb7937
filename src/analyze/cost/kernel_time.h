// How long a device takes for a kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/cost/device_kernel.h"
#include "analyze/cost/machine.h"

namespace shoal {

// What a kernel's bytes come from.
struct CacheTraffic {
  double hit = 0, miss = 0;    // bytes read from the cache, and from memory
  double write_hit = 0;        // bytes written over what is in the cache
};

// What a kernel waits for most.
enum class Bound : uint8_t { kNothing, kStart, kMemory, kCache, kMatrix, kInstructions, kBlocks, kLatency, kCompiler, kHost, kUnknown };
std::string_view ToString(Bound bound);

struct PriceTerm {
  Bound bound = Bound::kNothing;
  double seconds = 0;
  std::string from;  // "26.8 MB at 4.1 TB/s"
};

struct KernelPrice {
  double seconds = 0;
  Bound bound = Bound::kNothing;
  std::vector<PriceTerm> terms;  // that the formula joins; their sum is more than `seconds` where they overlap
  double flops = 0;
  int launches = 1;
};

KernelPrice PriceOf(const DeviceKernel& kernel, const CacheTraffic& traffic, const Machine& machine);

// The two kinds of devices.
KernelPrice PriceOnGpu(const DeviceKernel& kernel, const CacheTraffic& traffic, const Machine& machine);
KernelPrice PriceOnTpu(const DeviceKernel& kernel, const CacheTraffic& traffic, const Machine& machine);

// Flops a second of the unit; the vector units' where the device has no such unit.
double PeakOf(const DeviceModel& device, MatrixUnit unit);

}  // namespace shoal
