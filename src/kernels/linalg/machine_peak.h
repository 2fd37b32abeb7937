// What this machine reaches, measured: what a profile holds its figures against.
#pragma once

#include "core/base/thread_pool.h"

namespace shoal::internal {

struct MachinePeak {
  double flops = 0;  // per second, multiplications and additions of f32
  double bytes = 0;  // per second, read and written by copies larger than the caches
};

// Takes some 50 ms, on all of the pool's threads.
MachinePeak MeasurePeak(ThreadPool& pool);

}  // namespace shoal::internal
