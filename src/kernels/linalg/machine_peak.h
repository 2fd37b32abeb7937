// The measured peak rates of this machine, with which a profile compares its measurements.
#pragma once

#include "core/base/thread_pool.h"

namespace shoal::internal {

struct MachinePeak {
  double flops = 0;  // f32 multiplications and additions per second
  double bytes = 0;  // bytes read and written per second by copies larger than the caches
};

// Takes about 50 ms on all threads of the pool.
MachinePeak MeasurePeak(ThreadPool& pool);

}  // namespace shoal::internal
