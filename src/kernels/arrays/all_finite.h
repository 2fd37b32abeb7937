// Finds arrays without NaN and infinities at the speed of memory.
#pragma once

#include "core/base/thread_pool.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// True only if no element is NaN or infinite. Types that XLA rarely uses may return false although all are finite.
bool AreAllFinite(const Array& array, ThreadPool& pool);

}  // namespace shoal::internal
