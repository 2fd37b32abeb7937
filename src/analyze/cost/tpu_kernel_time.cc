// Times of ops on a TPU: a roofline over matrix units, vector units and memories, with shapes padded to tiles. If the
// module has the compiler's estimate of an op, this estimate overrides the roofline.
#include <algorithm>
#include <cmath>

#include "analyze/cost/kernel_time.h"
#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal::internal {
namespace {

double Padded(double size, double multiple) { return std::ceil(size / multiple) * multiple; }

// The matrix unit multiplies by blocks of 128 x 128 and processes 8 rows at a time.
double PaddedFlops(const GemmShape& p) {
  return 2 * p.batch * Padded(p.m, 8) * Padded(p.n, 128) * Padded(p.k, 128);
}

}  // namespace

KernelTime TpuKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine) {
  KernelTime timing;
  const DeviceModel& device = machine.device;
  if (kernel.family == KernelKind::kNothing) return timing;
  timing.flops = kernel.flops;
  auto term = [&](Bound bound, double seconds, std::string from) {
    timing.terms.push_back({bound, seconds, std::move(from)});
    if (seconds > timing.seconds) timing.seconds = seconds, timing.bound = bound;
  };
  const double rate = device.bandwidth * device.memory_efficiency;
  term(Bound::kMemory, (traffic.miss + kernel.written) / rate,
       StrCat(FormatSi(traffic.miss + kernel.written), "B at ", FormatSi(rate), "B/s"));
  if (traffic.hit > 0 && device.cache_bandwidth > 0)
    term(Bound::kCache, traffic.hit / device.cache_bandwidth, StrCat(FormatSi(traffic.hit), "B in vector memory"));
  if (kernel.product) {
    const double peak = PeakOf(device, kernel.product->unit) * device.matrix_efficiency;
    const double flops = PaddedFlops(*kernel.product);
    term(Bound::kMatrix, flops / peak, StrCat(FormatSi(flops), "flop with padding at ", FormatSi(peak), "flop/s"));
  } else if (kernel.attention) {
    const double peak = PeakOf(device, MatrixUnit::kBf16) * device.matrix_efficiency * 0.7;
    term(Bound::kMatrix, kernel.flops / peak, StrCat(FormatSi(kernel.flops), "flop"));
  } else {
    const double lanes = device.cores * device.lanes * device.clock;
    term(Bound::kInstructions, kernel.instructions / lanes, StrCat(FormatSi(kernel.instructions), " instructions"));
  }
  if (kernel.family == KernelKind::kHostCopy)
    term(Bound::kHost, std::max(kernel.read(), kernel.written) / device.host_bandwidth, "over the host link");
  // Prefer the compiler's estimate (in clock cycles), since the compiler knows the tiles and the pipeline.
  if (kernel.estimated_cycles > 0) {
    timing.seconds = kernel.estimated_cycles / device.clock;
    timing.bound = Bound::kCompiler;
    timing.terms.push_back({Bound::kCompiler, timing.seconds, StrCat(kernel.estimated_cycles, " cycles estimated by the compiler")});
  }
  timing.seconds += device.launch_overhead;
  timing.terms.push_back({Bound::kStart, device.launch_overhead, "start of the op"});
  return timing;
}

}  // namespace shoal::internal
