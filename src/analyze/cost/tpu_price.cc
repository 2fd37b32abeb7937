// Prices of ops on a TPU: a roofline over the matrix units, the vector units and the memories, on shapes padded to
// tiles; what the compiler estimated counts where it says so.
#include <algorithm>
#include <cmath>

#include "analyze/cost/kernel_time.h"
#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal {
namespace {

double Padded(double size, double to) { return std::ceil(size / to) * to; }

// The matrix unit takes blocks of 128 x 128, fed in rows of 8.
double PaddedFlops(const ProductShape& p) {
  return 2 * p.batch * Padded(p.m, 8) * Padded(p.n, 128) * Padded(p.k, 128);
}

}  // namespace

KernelPrice PriceOnTpu(const DeviceKernel& kernel, const CacheTraffic& traffic, const Machine& machine) {
  KernelPrice price;
  const DeviceModel& device = machine.device;
  if (kernel.family == KernelFamily::kNothing) return price;
  price.flops = kernel.flops;
  auto term = [&](Bound bound, double seconds, std::string from) {
    price.terms.push_back({bound, seconds, std::move(from)});
    if (seconds > price.seconds) price.seconds = seconds, price.bound = bound;
  };
  const double rate = device.bandwidth * device.memory_share;
  term(Bound::kMemory, (traffic.miss + kernel.written) / rate,
       StrCat(Scaled(traffic.miss + kernel.written), "B at ", Scaled(rate), "B/s"));
  if (traffic.hit > 0 && device.cache_bandwidth > 0)
    term(Bound::kCache, traffic.hit / device.cache_bandwidth, StrCat(Scaled(traffic.hit), "B in vector memory"));
  if (kernel.product) {
    const double peak = PeakOf(device, kernel.product->unit) * device.matrix_share;
    const double flops = PaddedFlops(*kernel.product);
    term(Bound::kMatrix, flops / peak, StrCat(Scaled(flops), "flop with padding at ", Scaled(peak), "flop/s"));
  } else if (kernel.attention) {
    const double peak = PeakOf(device, MatrixUnit::kBf16) * device.matrix_share * 0.7;
    term(Bound::kMatrix, kernel.flops / peak, StrCat(Scaled(kernel.flops), "flop"));
  } else {
    const double lanes = device.cores * device.lanes * device.clock;
    term(Bound::kInstructions, kernel.instructions / lanes, StrCat(Scaled(kernel.instructions), " instructions"));
  }
  if (kernel.family == KernelFamily::kHostCopy)
    term(Bound::kHost, std::max(kernel.read(), kernel.written) / device.host_bandwidth, "over the host's link");
  // The compiler knows its tiles and its own pipeline; its clock is the device's.
  if (kernel.estimated_cycles > 0) {
    price.seconds = kernel.estimated_cycles / device.clock;
    price.bound = Bound::kCompiler;
    price.terms.push_back({Bound::kCompiler, price.seconds, StrCat(kernel.estimated_cycles, " cycles, as the compiler estimated")});
  }
  price.seconds += device.launch;
  price.terms.push_back({Bound::kStart, device.launch, "start of the op"});
  return price;
}

}  // namespace shoal
